import type { DataPath } from '@phds/catalog/endpoints';
import type { Clock } from '@phds/service-kit/clock';
import type { ProfileStore, ReadingReader, RecordReader, SummaryReader, WeightReader } from './ports.ts';
import { readProfile } from './profile.ts';
import { readReadings } from './readings.ts';
import { readAdherence, readRecords } from './records.ts';
import type { Read } from './released-read.ts';
import { readAggregations, readTrends } from './summaries.ts';
import { readWeight } from './weight.ts';

/** Everything that reads draw on. */
export interface DataPorts {
  readonly readings: ReadingReader;
  readonly summaries: SummaryReader;
  readonly weights: WeightReader;
  readonly records: RecordReader;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
}

/** The read behind a data path; `medicationId` belongs to adherence alone. */
export function getRead(ports: DataPorts, path: DataPath, medicationId = ''): Read {
  const { endpoint, category } = path;
  switch (endpoint) {
    case 'health-data':
      if (category === null) throw new RangeError('Readings are read by category.');
      return readReadings(ports, category);
    case 'aggregations':
      return readAggregations(ports);
    case 'trends':
      return readTrends(ports);
    case 'adherence':
      return readAdherence(ports, medicationId);
    case 'weight':
      return readWeight(ports);
    case 'profile':
      return readProfile(ports);
    default:
      return readRecords(ports, endpoint);
  }
}
