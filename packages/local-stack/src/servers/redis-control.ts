import type { RedisServer } from './redis-server.ts';
import { startRedisServer } from './redis-server.ts';

/** The stack's Redis, which tests can stop and start. */
export interface RedisControl extends AsyncDisposable {
  /** Null when no Redis was found or wanted. */
  readonly url: string | null;
  /** Whether we started the server. */
  readonly owned: boolean;
  /** Starts the server again on the same port. */
  start(): Promise<void>;
  /** Kills the server as a crash would. Does nothing if we did not start it. */
  stop(): Promise<void>;
}

/** Starts Redis: a given URL, a program, Docker, an installation, in this order; or none. */
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
