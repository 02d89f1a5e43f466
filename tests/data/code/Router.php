<?php

namespace App\Http;

use App\Request;

/**
 * Finds the handler of a path.
 */
final class Router implements Routing
{
    private array $routes = [];

    #[Pure]
    public function match(Request $request): ?Route
    {
        foreach ($this->routes as $route) {
            if ($route->fits($request)) {
                return $route;
            }
        }

        return null;
    }
}

function route(string $path): Route
{
    return new Route($path);
}
