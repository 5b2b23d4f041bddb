import { expect, test } from '@jest/globals';
import { mapEcg } from '../../src/importers/apple/ecg.ts';

const RECORDING = [
  'Name,Jo Doe',
  'Date of Birth,"1 Jan 1980"',
  'Recorded Date,2024-01-05 10:00:00 +0100',
  'Classification,Sinus Rhythm',
  'Symptoms,Rapid, pounding, or fluttering heartbeat,Fatigue',
  'Software Version,1.90',
  'Device,"Watch6,7"',
  'Sample Rate,512.213 hertz',
  '',
  '',
  'Lead,Lead I',
  'Unit,µV',
  '',
  '-32.061',
  '-30.875',
].join('\n');

const AT = Date.UTC(2024, 0, 5, 9, 0);

test('a recording is a reading without a value if the header has no heart rate', () => {
  expect(mapEcg(RECORDING)).toEqual({
    kind: 'reading',
    reading: { type: 'ECG', start: AT, end: AT, value: null, unit: '/min', source: 'apple-watch' },
  });
});

test('a heart rate in the header is used', () => {
  const line = (text: string) => RECORDING.replace('Symptoms,', `Average Heart Rate,${text}\nSymptoms,`);
  expect(mapEcg(line('64 bpm'))).toMatchObject({ reading: { value: 64 } });
  expect(mapEcg(line('"64,5 BPM"'))).toMatchObject({ reading: { value: 64.5 } });
  expect(mapEcg(line('fast'))).toMatchObject({ reading: { value: null } });
});

test('captions may be in any language, lines may end with CRLF, voltages may have commas', () => {
  const german = RECORDING.replace('Recorded Date', 'Aufzeichnungsdatum').replace('Device', 'Gerät');
  const lines = german.replace('-32.061', '-32,061').replaceAll('\n', '\r\n');
  expect(mapEcg(lines)).toEqual(mapEcg(RECORDING));
});

test.each([
  ['without a date', RECORDING.replace('2024-01-05', '2024-02-30')],
  ['with its date behind the voltages', `-1.5\n${RECORDING}`],
  ['of another kind', 'a;b\n1;2'],
  ['that is empty', ''],
])('a file %s is refused without quoting it', (_name, text) => {
  expect(mapEcg(text)).toEqual({ kind: 'refused', type: 'ECG', reason: 'no date of recording' });
});

test('neither name nor date of birth is imported', () => {
  expect(JSON.stringify(mapEcg(RECORDING))).not.toMatch(/Jo|Doe|1980/);
});
