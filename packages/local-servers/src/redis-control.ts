import type { RedisServer } from './redis-server.ts';
import { startRedisServer } from './redis-server.ts';

/** The stack's Redis, which can be taken away and brought back. */
export interface RedisControl extends AsyncDisposable {
  /** Null when there is none: nothing was found to start, or it was not wanted. */
  readonly url: string | null;
  /** Whether the server is our own. */
  readonly owned: boolean;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Ends it as a crash would; a given one is left alone. */
  stop(): Promise<void>;
}

/** Starts Redis by the usual order (a given URL, a program, Docker, an installation), or none. */
export async function startRedisControl(options: {
  readonly wanted: boolean;
  readonly givenUrl: string | undefined;
  readonly port: number;
  readonly notice: (text: string) => void;
}): Promise<RedisControl> {
  const { wanted, givenUrl, port, notice } = options;
  const launch = () => startRedisServer({ givenUrl, port, notice });
  let server: RedisServer | null = wanted ? await launch() : null;
  const stop = async () => {
    await server?.stop();
    server = null;
  };
  return {
    url: server?.url ?? null,
    owned: server !== null && !givenUrl,
    start: async () => {
      server ??= await launch();
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
