import { describe, expect, test } from '@jest/globals';
import { AppError } from '../src/errors.ts';
import { newSecret } from '../src/secrets.ts';
import { createLogger, withoutRedaction } from '../src/telemetry/log.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(
    createLogger({
      service: 'gateway',
      level: 'trace',
      destination: { write: (line) => void lines.push(line) },
    }),
  );
  return lines.join('');
}

describe('no secret reaches the log', () => {
  const token = newSecret('access_token');
  const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`;
  const url = 'postgresql://phds:hunter2@localhost:5432/phds';

  test.each<[string, (log: ReturnType<typeof createLogger>) => void]>([
    [
      'in a named field',
      (log) => log.info({ authorization: `Bearer ${token}`, body: { code: token } }, 'request'),
    ],
    ['in a message', (log) => log.info(`got ${token} and ${jwt} from ${url}`)],
    ['in an error', (log) => log.error({ err: new Error(`bad ${token} ${jwt} ${url}`) }, 'failed')],
    [
      'in a cause of a cause',
      (log) => {
        const cause = new Error('outer', { cause: new Error(`inner ${token} ${jwt} ${url}`) });
        log.error({ err: new AppError('internal', '', { cause }) }, 'failed');
      },
    ],
    [
      'in a field that a driver hangs on its error',
      (log) =>
        log.error(
          { err: Object.assign(new Error('query failed'), { parameters: [token, jwt, url] }) },
          'failed',
        ),
    ],
  ])('%s', (_, write) => {
    const text = logged(write);
    expect(text).toContain('"service":"gateway"');
    for (const secret of [token, jwt, 'hunter2']) expect(text).not.toContain(secret);
  });

  test('the information needed to find a fault is kept', () => {
    const text = logged((log) => {
      log.error(
        {
          err: new AppError('unavailable', 'x', {
            cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
          }),
        },
        'failed',
      );
    });
    for (const part of ['unavailable', 'refused', 'ECONNREFUSED', 'stack']) expect(text).toContain(part);
  });

  test('a log without redaction writes to the same place, scrubs messages, and leaves the log it comes from as it is', () => {
    const text = logged((log) => {
      const plain = withoutRedaction(log);
      log.info({ token }, 'first');
      plain.info({ route: '/oauth/token' }, `second ${token}`);
      log.info({ token }, 'third');
    });
    expect(text).toMatch(/first.*\n.*"service":"gateway","route":"\/oauth\/token","msg":"second.*\n.*third/);
    expect(text).not.toContain(token);
  });
});
