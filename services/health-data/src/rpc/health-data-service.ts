import { create } from '@bufbuild/protobuf';
import { isFhirType } from '@phds/catalog/fhir/resource-types';
import type { TrendBucket } from '@phds/catalog/wire-names';
import {
  HealthDataService,
  QueryParametersSchema,
  type ReadRequest,
  TrendBucket as TrendBucketMessage,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { invalidRequest, notFound, unauthorized } from '@phds/service-kit/errors';
import { assertionOf } from '@phds/service-kit/rpc/context';
import { findEndpointId } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import type { AssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { askFhir } from '../fhir/request.ts';
import { type AskedData, askForResource, type ReleaseParts, releaseData } from '../release.ts';
import type { SentParameters } from '../request.ts';
import { getDataPath } from '../resources.ts';

/** Data for apps. The required scope is derived from the endpoint and the category, never from the caller's input. */
export function createHealthDataService({
  verifyAssertion,
  ...parts
}: ReleaseParts & { readonly verifyAssertion: AssertionVerifier }) {
  return implement(
    HealthDataService,
    {
      read: async (request, context) => {
        const caller = await verifyAssertion(assertionOf(context));
        // The gateway has checked it. Here a gateway that forgets to gets no data.
        if ((caller.jkt ?? '') !== request.jkt)
          throw unauthorized('the token is bound to another key than was proved');
        return releaseData(parts, caller, toAsked(request));
      },
    },
    { read: ['gateway'] },
    { reads: 'read' },
  );
}

function toAsked(request: ReadRequest): AskedData {
  const { endpoint, category, medicationId, parameters, requestId, scope, fhir } = request;
  if (fhir !== undefined) {
    const { resourceType: type, parameters: sent } = fhir;
    if (!isFhirType(type)) throw notFound();
    return askFhir({
      ...fhir,
      type,
      parameters: sent.map(({ name, value }) => [name, value]),
      requestId,
      scope,
    });
  }
  const endpointId = findEndpointId(endpoint);
  if (endpointId === null) throw invalidRequest('endpoint', 'is not known');
  const path = getDataPath(endpointId, category);
  return askForResource({
    path,
    medicationId,
    parameters: toSentParameters(parameters),
    requestId,
    scope,
  });
}

const BUCKETS: Readonly<Record<TrendBucketMessage, TrendBucket | null>> = {
  [TrendBucketMessage.UNSPECIFIED]: null,
  [TrendBucketMessage.HOUR]: 'hour',
  [TrendBucketMessage.DAY]: 'day',
};

function toSentParameters(message = create(QueryParametersSchema)): SentParameters {
  const { page, from, to, type, timeZone, updatedSince } = message;
  // An enum field can contain an unknown number.
  const bucket: TrendBucket | null | undefined = BUCKETS[message.bucket];
  if (bucket === undefined) throw invalidRequest('bucket', 'is not known');
  return {
    page: page?.page ?? 0,
    pageSize: page?.pageSize ?? 0,
    from,
    to,
    type,
    bucket,
    timeZone,
    updatedSince,
  };
}
