import { DATA_PATHS, type DataPath, type EndpointId } from '@phds/catalog/endpoints';
import type { Clock } from '@phds/service-kit/clock';
import { type AppError, notFound } from '@phds/service-kit/errors';
import type { DataRequest } from './data-request.ts';
import type { Answer } from './document.ts';
import { readAdherence, readHealthRecords } from './health-records.ts';
import type {
  HealthRecordReader,
  ProfileStore,
  ReadingChangeReader,
  ReadingReader,
  ReadingSpanReader,
  SummaryReader,
  WeightReader,
} from './ports.ts';
import { readProfile } from './profile.ts';
import { readReadingChanges } from './reading-changes.ts';
import { readReadings } from './readings.ts';
import { readAggregations, readTrends } from './summaries.ts';
import { readWeight } from './weight.ts';

/** The stores that resources are read from. */
export interface DataPorts {
  readonly readings: ReadingReader;
  readonly readingSpans: ReadingSpanReader;
  readonly readingChanges: ReadingChangeReader;
  /** How long the times of changes of readings are kept. */
  readonly changeDays: number;
  readonly summaries: SummaryReader;
  readonly weights: WeightReader;
  readonly healthRecords: HealthRecordReader;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
}

/** The data path of an endpoint, with the scope that opens it. Throws NOT_FOUND for an unknown category. */
export function getDataPath(endpoint: EndpointId, category: string): DataPath {
  const path = DATA_PATHS.find((path) => path.endpoint === endpoint && (path.category ?? '') === category);
  if (path === undefined) throw notFound();
  return path;
}

/**
 * Reads a user's rows and encodes them. An error that depends on the rows, such as not found, is returned instead of thrown: it
 * reveals something about the user, so it is recorded and judged like a response.
 */
export async function readResource(ports: DataPorts, request: DataRequest): Promise<Answer | AppError> {
  const { endpoint } = request.path;
  switch (endpoint) {
    case 'health-data':
      return request.parameters.updatedSince === null
        ? readReadings(ports, request)
        : readReadingChanges(ports, request);
    case 'aggregations':
      return readAggregations(ports, request);
    case 'trends':
      return readTrends(ports, request);
    case 'adherence':
      return readAdherence(ports, request);
    case 'weight':
      return readWeight(ports, request);
    case 'profile':
      return readProfile(ports, request);
    default:
      return readHealthRecords(ports, endpoint, request);
  }
}
