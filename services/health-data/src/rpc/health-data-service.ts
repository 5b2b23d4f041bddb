import { create } from '@bufbuild/protobuf';
import type { TrendBucket } from '@phds/catalog/wire-names';
import {
  HealthDataService,
  QueryParametersSchema,
  TrendBucket as TrendBucketMessage,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { assertionOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { AssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { findEndpointId } from '@phds/service-kit/wire-enums';
import { type ReleasePorts, releaseData } from '../app/data-release.ts';
import type { SentParameters } from '../app/data-request.ts';
import { getDataPath } from '../app/resources.ts';

/** Data for apps. The required scope is derived from the endpoint and the category, never from the caller's input. */
export function createHealthDataService({
  verifyAssertion,
  ...ports
}: ReleasePorts & { readonly verifyAssertion: AssertionVerifier }) {
  return implement(
    HealthDataService,
    {
      read: async ({ endpoint, category, medicationId, parameters, requestId, scope, jkt }, context) => {
        const caller = await verifyAssertion(assertionOf(context));
        // The gateway has checked it. Here a gateway that forgets to gets no data.
        if ((caller.jkt ?? '') !== jkt)
          throw unauthorized('the token is bound to another key than was proved');
        const endpointId = findEndpointId(endpoint);
        if (endpointId === null) throw invalidRequest('endpoint', 'is not known');
        const path = getDataPath(endpointId, category);
        return releaseData(ports, caller, {
          path,
          medicationId,
          parameters: toSentParameters(parameters),
          requestId,
          scope,
        });
      },
    },
    { read: ['gateway'] },
    { reads: 'read' },
  );
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
