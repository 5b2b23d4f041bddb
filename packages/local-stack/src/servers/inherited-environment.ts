// The variables of libfaketime (`pnpm prove:hours`), passed on so that services, callers and Postgres agree on the time.
const FAKE_CLOCK = [
  'LD_PRELOAD',
  'FAKETIME',
  'FAKETIME_DISABLE_SHM',
  'FAKETIME_DONT_FAKE_MONOTONIC',
  'NO_FAKE_STAT',
] as const;

// Services inherit nothing else: a PORT or HOST that is set for another program must not reach them.
const INHERITED = ['PATH', 'HOME', 'TZ', 'LANG', 'LOG_LEVEL', 'NODE_COMPILE_CACHE', ...FAKE_CLOCK] as const;

/** The environment variables that a process of the stack inherits from its caller. */
export function inheritedEnvironment(): Readonly<Record<string, string>> {
  const pairs = INHERITED.map((name) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''));
}
