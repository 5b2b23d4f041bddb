import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CallOptions, Client } from '@connectrpc/connect';
import type { EndpointId } from '@phds/catalog/endpoints';
import type {
  Document,
  HealthDataService,
  ReadQuerySchema,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';

type Data = Client<typeof HealthDataService>;
type Answer = Promise<{ document?: Document | undefined }>;

/** One read of the data service. */
export interface Read {
  readonly query: MessageInitShape<typeof ReadQuerySchema>;
  /** Category or medication id; empty elsewhere. */
  readonly segment: string;
  readonly bucket: string;
}

/** The rpc behind each data endpoint. */
export const FETCH: Readonly<Record<EndpointId, (data: Data, read: Read, options: CallOptions) => Answer>> = {
  'health-data': (data, { query, segment }, options) =>
    data.listReadings({ query, category: segment }, options),
  aggregations: (data, { query }, options) => data.getAggregations({ query }, options),
  trends: (data, { query, bucket }, options) => data.listTrends({ query, bucket }, options),
  symptoms: (data, { query }, options) => data.listSymptoms({ query }, options),
  medications: (data, { query }, options) => data.listMedications({ query }, options),
  adherence: (data, { query, segment }, options) =>
    data.listAdherence({ query, medicationId: segment }, options),
  conditions: (data, { query }, options) => data.listConditions({ query }, options),
  allergies: (data, { query }, options) => data.listAllergies({ query }, options),
  appointments: (data, { query }, options) => data.listAppointments({ query }, options),
  weight: (data, { query }, options) => data.listWeight({ query }, options),
  mood: (data, { query }, options) => data.listMood({ query }, options),
  reports: (data, { query }, options) => data.listReports({ query }, options),
  profile: (data, { query }, options) => data.getProfile({ query }, options),
  ehr: (data, { query }, options) => data.listEhr({ query }, options),
};
