import { Agent } from "./agent";

/** What a call may be told. */
export interface Options {
  retries?: number;
  timeout: number;
}

export type Result<T> =
  | { ok: true; value: T }
  | { ok: false; error: string };

export enum Level {
  Low,
  High,
}

@Injectable()
export abstract class Client<T> implements Caller {
  constructor(private readonly agent: Agent) {}

  @Input() name = "x";

  async call(path: string, options: Options): Promise<Result<T>> {
    return this.agent.send(path);
  }
}

namespace Tools {
  export function wait(ms: number): void {
    sleep(ms);
  }
}
