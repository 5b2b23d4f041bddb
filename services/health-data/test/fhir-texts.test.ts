import { expect, test } from '@jest/globals';
import { createObservationTexts } from '../src/fhir/observations.ts';
import { toAppointment } from '../src/fhir/resources.ts';

const IDENTITY = { id: 'rdg-1', patientId: 'pat-1' };
const occurredAt = new Date('2026-01-02T10:00:00Z');
const END = '2026-01-02T10:00:30.000Z';

test.each(['"', '\\', '\\"', '"}],"x":[{"y":"', '\u2028\u2029', '\u0000\u001f', '\ud800', '</script>', '😀'])(
  'an Observation with the text %j is the JSON of its values',
  (text) => {
    const texts = createObservationTexts(`https://phds.example/${text}`);
    const reading = {
      id: '1',
      metric: 'steps',
      value: 1e-7,
      timestamp: occurredAt.toISOString(),
      source: text,
    } as const;
    const made = [
      texts.ofReading(IDENTITY, { ...reading, endTimestamp: null }),
      texts.ofReading(IDENTITY, { ...reading, endTimestamp: END, value: null }),
      texts.ofBloodPressure(IDENTITY, {
        'bp-diastolic': { ...reading, metric: 'bp-diastolic', endTimestamp: END },
      }),
      texts.ofSymptom(IDENTITY, { id: '1', description: text, severity: 'mild', occurredAt }),
      texts.ofMood(IDENTITY, { id: '1', mood: 'neutral', note: text, occurredAt }),
    ];
    for (const json of made) expect(JSON.stringify(JSON.parse(json))).toBe(json);
    const shown = made.map((json) => JSON.parse(json));
    const found = shown.map(
      ({ device, valueString, note }) => device?.display ?? note?.[0].text ?? valueString,
    );
    expect(found).toEqual(Array(made.length).fill(text));
    expect(shown[0].code.coding.at(-1).system).toBe(`https://phds.example/${text}/CodeSystem/metric`);
  },
);

test.each([
  [14 * 60, '2026-01-03T00:00:00+14:00'],
  [-(9 * 60 + 30), '2026-01-02T00:30:00-09:30'],
  // FHIR allows no larger one.
  [14 * 60 + 1, '2026-01-02T10:00:00+00:00'],
])('an appointment with an offset of %d minutes starts at %s', (offsetMinutes, start) => {
  const appointment = {
    id: '1',
    title: 'T',
    startsAt: occurredAt,
    offsetMinutes,
    specialty: null,
    location: null,
  };
  expect(toAppointment(IDENTITY, appointment)).toMatchObject({ start });
});
