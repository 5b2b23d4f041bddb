import { eventually } from '@phds/test-kit/conditions';
import type { RpcServer } from '../src/rpc/server.ts';
import { type openUnary, serve } from './read-service.ts';

type Read = ReturnType<typeof openUnary>['read'];

/** Answers with its name. */
export function startReplica(etag: string, options: Parameters<typeof serve>[1] = {}): Promise<RpcServer> {
  return serve(async () => ({ etag }), options);
}

/** Keeps calls running until one fails or it is stopped, and then returns the errors. */
export function keepCalling(read: Read, parallel: number) {
  const errors: unknown[] = [];
  const load = { calls: 0, isOver: false };
  const callInTurn = async () => {
    while (!load.isOver && errors.length === 0) {
      await read({}).catch((error: unknown) => errors.push(error));
      load.calls += 1;
    }
  };
  const running = Array.from({ length: parallel }, callInTurn);
  return {
    /** Waits until so many calls more have ended. */
    more: (count: number, before = load.calls) =>
      eventually(() => load.calls > before + count || errors.length > 0),
    stop: async () => {
      load.isOver = true;
      await Promise.all(running);
      return errors;
    },
  };
}
