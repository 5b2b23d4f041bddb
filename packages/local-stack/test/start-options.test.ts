import { describe, expect, test } from '@jest/globals';
import { createStartCommand } from '../src/start-options.ts';

/** What the arguments mean, and what is printed about them. */
function parse(...args: string[]) {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const command = createStartCommand().configureOutput({ writeOut: print, writeErr: print });
  try {
    return { options: command.parse(args, { from: 'user' }).opts(), printed: printed.join('') };
  } catch (error) {
    return { exitCode: (error as { exitCode: number }).exitCode, printed: printed.join('') };
  }
}

describe('the arguments of npm start', () => {
  test('none mean one gateway on the existing data', () => {
    expect(parse().options).toEqual({ fresh: false, gateways: 1 });
  });

  test('accept --fresh and --gateways', () => {
    expect(parse('--fresh', '--gateways', '3').options).toEqual({ fresh: true, gateways: 3 });
  });

  test.each(['0', '17', '-1', '1.5', 'two', ''])('--gateways=%j is refused with the valid range', (count) => {
    const { exitCode, printed } = parse(`--gateways=${count}`);
    expect(exitCode).toBe(1);
    expect(printed).toContain('It must be a number from 1 to 16.');
  });

  test.each([['--frehs'], ['fresh'], ['--gateways']])(
    '%j is refused and names the known options',
    (argument) => {
      const { exitCode, printed } = parse(argument);
      expect(exitCode).toBe(1);
      expect(printed).toContain('error: ');
      expect(printed).toContain('--gateways <n>');
    },
  );

  test('the help names every option and every port', () => {
    const { exitCode, printed } = parse('--help');
    expect(exitCode).toBe(0);
    for (const word of ['--fresh', '--gateways', 'GATEWAY_PORT', 'CONSENT_PROBE_PORT', '7432', 'REDIS_URL']) {
      expect(printed).toContain(word);
    }
  });
});
