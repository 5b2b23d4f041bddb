import { describe, expect, test } from '@jest/globals';
import { device } from '@phds/test-kit/apple-exports';
import { parseDevice } from '../src/apple/devices.ts';
import { SourceLabels } from '../src/apple/source-labels.ts';

const WATCH = device({
  name: 'Apple Watch',
  manufacturer: 'Apple Inc.',
  model: 'Watch',
  hardware: 'Watch6,7',
  software: '10.2',
});
const labelOf = (sourceName: string, from = '', labels = new SourceLabels()) =>
  labels.labelOf({ sourceName, sourceVersion: '', device: from });

describe('the label of a source', () => {
  test.each([
    ['Jo’s Apple\u00a0Watch', 'apple-watch'],
    ['Apple Watch von Jo', 'apple-watch'],
    ["Jo's iPhone", 'iphone'],
    ['Jo 的 iPhone 15 Pro', 'iphone'],
    ['iPad de Jo', 'ipad'],
    ['Health Mate', 'withings'],
    ['Withings', 'withings'],
    ['Connect', 'garmin'],
    ['Oura', 'oura'],
    ['Health', 'apple-health'],
    ['ヘルスケア', 'apple-health'],
    ['', 'apple-health'],
  ])('of %j is %s', (name, label) => {
    expect(labelOf(name)).toBe(label);
  });

  test('is that of the device for a device with a name of its own', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Excalibur', sourceVersion: '10.2', device: WATCH });
    expect(labelOf('Excalibur', WATCH, labels)).toBe('apple-watch');
    // Sleep and the like come without a device.
    expect(labelOf('Excalibur', '', labels)).toBe('apple-watch');
  });

  test('of an app that runs on a device is not that of the device: both would be added up', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Stepper', sourceVersion: '3.1', device: WATCH });
    expect(labelOf('Stepper', WATCH, labels)).toMatch(/^app-[0-9a-f]{3}$/);
  });

  test('of a device somebody else makes is its maker', () => {
    const cuff = device({
      name: 'Jo in the kitchen',
      manufacturer: 'OMRON HEALTHCARE',
      model: 'BP, 7900',
      software: '1',
    });
    expect(labelOf('Kitchen', cuff)).toBe('omron');
  });

  test('of what is not known tells it apart and nothing else', () => {
    const [one, other] = [labelOf('Daniela’s thing'), labelOf('Stepper')];
    expect(one).toMatch(/^app-[0-9a-f]{3}$/);
    expect(other).not.toBe(one);
    expect(labelOf('Daniela’s thing')).toBe(one);
  });

  test('is one that health-data takes, whatever the name', () => {
    for (const name of ['\u0000', '💓', 'x'.repeat(10_000), '../../etc', '<script>', 'İPHONE', ' ']) {
      expect(labelOf(name)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  });
});

test('a device is read although its values hold commas', () => {
  expect(parseDevice(WATCH)).toEqual({
    manufacturer: 'Apple Inc.',
    model: 'Watch',
    hardware: 'Watch6,7',
    software: '10.2',
  });
  expect(parseDevice('')).toEqual({ manufacturer: '', model: '', hardware: '', software: '' });
});
