import { expect, test } from '@jest/globals';
import { observation, openBundleFiles } from '@phds/test-kit/bundle-files';
import { fhirImporter } from '../../src/importers/fhir/importer.ts';

/** Every item from a position on, with the next reached position. */
async function read(file: string, from: number) {
  await using source = await fhirImporter.open({ paths: [file], patient: null, onChecked: () => undefined });
  const [calls, positions, pending]: [[number, string][], number[], string[]] = [[], [], []];
  const note = (...call: unknown[]) => void pending.push(JSON.stringify(call));
  await source.read(
    {
      reading: (reading, origin) => note('reading', reading, origin),
      record: (record, origin) => note('record', record.key, origin),
      leftOut: (type, reason) => note('left out', type, reason),
      refused: (type, reason, origin) => note('refused', type, reason, origin),
      profile: () => undefined,
      reached: async (position) => {
        positions.push(position);
        calls.push(...pending.splice(0).map((call): [number, string] => [position, call]));
      },
    },
    from,
  );
  return { calls, positions };
}

test('a resumed bundle yields the same items as an uninterrupted run', async () => {
  using files = openBundleFiles();
  const heartRate = (id: string, value: number) => observation(id, '8867-4', value, '/min');
  const resources = [
    { resourceType: 'Patient', id: 'p1', gender: 'female' },
    heartRate('o1', 60),
    { resourceType: 'Claim', id: 'x1' },
    { resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } },
    heartRate('o2', 61),
    { resourceType: 'Condition', id: 'c1', code: { text: 'Asthma' } },
    observation('o3', '29463-7', 70, 'kg'),
  ];
  const file = files.bundle(resources);
  const whole = await read(file, 0);
  expect(whole.positions).toHaveLength(resources.length);
  for (const [count, from] of whole.positions.entries()) {
    const rest = await read(file, from);
    expect(rest.positions).toEqual(whole.positions.slice(count + 1));
    expect(rest.calls).toEqual(whole.calls.filter(([position]) => position > from));
  }
});
