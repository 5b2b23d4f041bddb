import { afterAll, expect, test } from '@jest/globals';
import { currentDeadline, Deadline, withinDeadline } from '../src/deadline.ts';
import type { RpcContext } from '../src/rpc/context.ts';
import { openUnary, serve } from './call-stream-service.ts';

let handle: (context: RpcContext) => Promise<void> = async () => undefined;
let calls = 0;

const server = await serve(async (_request, context) => {
  calls += 1;
  await handle(context);
  return {};
});
afterAll(async () => server[Symbol.asyncDispose]());

const open = () => openUnary([server.rpcPort], 60_000);

test('a call gets the remaining time of the call that it is made for', async () => {
  using service = open();
  const seen: (number | undefined)[] = [];
  handle = async () => void seen.push(currentDeadline()?.remainingMs());
  await withinDeadline(new Deadline(20_000), () => service.read({}));
  await withinDeadline(new Deadline(20_000), () => service.read({}, { timeoutMs: 10_000 }));
  await service.read({});
  const [shortened, own, alone] = seen;
  expect(shortened).toBeGreaterThan(10_000);
  expect(shortened).toBeLessThan(20_000);
  expect(own).toBeLessThanOrEqual(10_000);
  expect(alone).toBeGreaterThan(20_000);
});

test('no other service is called for a caller that has stopped waiting', async () => {
  using service = open();
  calls = 0;
  const call = withinDeadline(new Deadline(0), () => service.read({}));
  await expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  expect(calls).toBe(0);
});

test('when a caller gives up, the calls made for it are cancelled', async () => {
  using service = open();
  const ended = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  handle = async ({ signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    expect(currentDeadline()?.remainingMs()).toBe(0);
    ended.resolve();
  };
  const deadline = new Deadline(60_000);
  const call = withinDeadline(deadline, () => service.read({}));
  const refused = expect(call).rejects.toMatchObject({ reason: 'unavailable' });
  await begun.promise;
  deadline.end();
  await Promise.all([refused, ended.promise]);
});
