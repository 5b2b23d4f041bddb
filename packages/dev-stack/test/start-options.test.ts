import { describe, expect, test } from '@jest/globals';
import { HELP, parseStartOptions } from '../src/start-options.ts';

describe('the arguments of npm start', () => {
  test('none mean one gateway on the data that is there', () => {
    expect(parseStartOptions([])).toEqual({ fresh: false, gateways: 1, help: false });
  });

  test('--fresh and --gateways are understood', () => {
    const options = parseStartOptions(['--fresh', '--gateways', '3']);
    expect(options).toEqual({ fresh: true, gateways: 3, help: false });
  });

  test.each(['0', '17', '-1', '1.5', 'two', ''])('--gateways=%j is refused with the range', (count) => {
    expect(() => parseStartOptions([`--gateways=${count}`])).toThrow(
      '--gateways takes a number from 1 to 16.',
    );
  });

  test.each([['--frehs'], ['fresh'], ['--gateways']])(
    '%j is refused and names the known flags',
    (argument) => {
      expect(() => parseStartOptions([argument])).toThrow('Known flags: --fresh, --gateways N, --help.');
    },
  );

  test('the help names every flag and every port', () => {
    for (const word of [
      '--fresh',
      '--gateways',
      'GATEWAY_PORT',
      'CONSENT_CONNECT_PORT',
      '7432',
      'REDIS_URL',
    ]) {
      expect(HELP).toContain(word);
    }
  });
});
