import Foundation

/// Counts down.
public struct Timer: Codable {
    var seconds: Int

    init(seconds: Int) {
        self.seconds = seconds
    }

    mutating func tick() -> Bool {
        seconds -= 1
        return seconds > 0
    }
}

protocol Clock {
    func now() -> Date
}

extension Timer {
    func reset() {
        print("reset")
    }
}
