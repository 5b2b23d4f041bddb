import type { HandlerContext } from '@connectrpc/connect';
import type { EndpointId } from '@phds/catalog/endpoints';
import { HealthDataService, type ReadQuery } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { AssertionVerifier } from '@phds/service-kit/access-assertion';
import { assertionOf } from '@phds/service-kit/rpc-context';
import { implement } from '@phds/service-kit/rpc-service';
import { type DataPorts, getRead } from '../app/data-reads.ts';
import type { AccessRecorder } from '../app/ports.ts';
import type { PublicIds } from '../app/public-ids.ts';
import { getDataPath, type RawQuery } from '../app/read-request.ts';
import { readReleased } from '../app/released-read.ts';

export interface HealthDataRpcs {
  readonly verifyAssertion: AssertionVerifier;
  readonly data: DataPorts;
  readonly recorder: AccessRecorder;
  readonly publicIds: PublicIds;
}

/** What single endpoints have besides the shared parameters. */
interface Extras {
  readonly category?: string;
  readonly medicationId?: string;
  readonly bucket?: string;
}

const GATEWAY = ['gateway'];

/** The reads for apps. Which scope is needed follows from the rpc, never from what the caller says. */
export function healthDataService(rpcs: HealthDataRpcs) {
  const { verifyAssertion, data } = rpcs;

  async function answer(
    endpoint: EndpointId,
    query: ReadQuery | undefined,
    context: HandlerContext,
    extras: Extras = {},
  ) {
    const caller = await verifyAssertion(assertionOf(context));
    const path = getDataPath(endpoint, extras.category ?? null);
    const read = getRead(data, path, extras.medicationId);
    return { document: await readReleased(rpcs, caller, path, toRawQuery(query, extras), read) };
  }

  return implement(
    HealthDataService,
    {
      listReadings: ({ query, category }, context) => answer('health-data', query, context, { category }),
      getAggregations: ({ query }, context) => answer('aggregations', query, context),
      listTrends: ({ query, bucket }, context) => answer('trends', query, context, { bucket }),
      listSymptoms: ({ query }, context) => answer('symptoms', query, context),
      listMedications: ({ query }, context) => answer('medications', query, context),
      listAdherence: ({ query, medicationId }, context) =>
        answer('adherence', query, context, { medicationId }),
      listConditions: ({ query }, context) => answer('conditions', query, context),
      listAllergies: ({ query }, context) => answer('allergies', query, context),
      listAppointments: ({ query }, context) => answer('appointments', query, context),
      listWeight: ({ query }, context) => answer('weight', query, context),
      listMood: ({ query }, context) => answer('mood', query, context),
      listReports: ({ query }, context) => answer('reports', query, context),
      getProfile: ({ query }, context) => answer('profile', query, context),
      listEhr: ({ query }, context) => answer('ehr', query, context),
    },
    {
      listReadings: GATEWAY,
      getAggregations: GATEWAY,
      listTrends: GATEWAY,
      listSymptoms: GATEWAY,
      listMedications: GATEWAY,
      listAdherence: GATEWAY,
      listConditions: GATEWAY,
      listAllergies: GATEWAY,
      listAppointments: GATEWAY,
      listWeight: GATEWAY,
      listMood: GATEWAY,
      listReports: GATEWAY,
      getProfile: GATEWAY,
      listEhr: GATEWAY,
    },
  );
}

function toRawQuery(query: ReadQuery | undefined, { bucket = '' }: Extras): RawQuery {
  return {
    page: query?.page?.page ?? 0,
    pageSize: query?.page?.pageSize ?? 0,
    from: query?.from ?? '',
    to: query?.to ?? '',
    type: query?.type ?? '',
    bucket,
    timeZone: query?.timeZone ?? '',
    requestId: query?.requestId ?? '',
  };
}
