// What libfaketime reads (`pnpm prove:hours`). Services, their callers and Postgres have to agree on the time.
const FAKE_CLOCK = [
  'LD_PRELOAD',
  'FAKETIME',
  'FAKETIME_DISABLE_SHM',
  'FAKETIME_DONT_FAKE_MONOTONIC',
  'NO_FAKE_STAT',
] as const;

// Nothing else of the caller's environment reaches a service: a PORT or HOST set for something else must not.
const INHERITED = ['PATH', 'HOME', 'TZ', 'LANG', 'LOG_LEVEL', 'NODE_COMPILE_CACHE', ...FAKE_CLOCK] as const;

/** What a process of the stack, or a command for it, takes over from the environment of its caller. */
export function inheritedEnvironment(): Readonly<Record<string, string>> {
  const pairs = INHERITED.map((name) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''));
}
