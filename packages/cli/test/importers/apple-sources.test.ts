import { describe, expect, test } from '@jest/globals';
import { device } from '@phds/test-kit/apple-exports';
import { parseDevice, SourceLabels } from '../../src/importers/apple/source-labels.ts';

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

  test('of a renamed device is that of the device', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Excalibur', sourceVersion: '10.2', device: WATCH });
    expect(labelOf('Excalibur', WATCH, labels)).toBe('apple-watch');
    // Sleep and similar records have no device.
    expect(labelOf('Excalibur', '', labels)).toBe('apple-watch');
  });

  test('of an app on a device differs from that of the device, because both would be summed otherwise', () => {
    const labels = new SourceLabels();
    labels.learn({ sourceName: 'Stepper', sourceVersion: '3.1', device: WATCH });
    expect(labelOf('Stepper', WATCH, labels)).toMatch(/^app-[0-9a-f]{3}$/);
  });

  test('of a third-party device is its manufacturer', () => {
    const cuff = device({
      name: 'Jo in the kitchen',
      manufacturer: 'OMRON HEALTHCARE',
      model: 'BP, 7900',
      software: '1',
    });
    expect(labelOf('Kitchen', cuff)).toBe('omron');
  });

  test('of an unknown source only distinguishes it', () => {
    const [one, other] = [labelOf('Daniela’s thing'), labelOf('Stepper')];
    expect(one).toMatch(/^app-[0-9a-f]{3}$/);
    expect(other).not.toBe(one);
    expect(labelOf('Daniela’s thing')).toBe(one);
  });

  test('is accepted by health-data for any name', () => {
    for (const name of ['\u0000', '💓', 'x'.repeat(10_000), '../../etc', '<script>', 'İPHONE', ' ']) {
      expect(labelOf(name)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    }
  });
});

test('a device is parsed even if its values contain commas', () => {
  expect(parseDevice(WATCH)).toEqual({
    manufacturer: 'Apple Inc.',
    model: 'Watch',
    hardware: 'Watch6,7',
    software: '10.2',
  });
  expect(parseDevice('')).toEqual({ manufacturer: '', model: '', hardware: '', software: '' });
});
