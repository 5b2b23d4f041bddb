import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { unauthorized } from '@phds/service-kit/errors';
import { assertionOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { AssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { askFhir } from '../fhir/request.ts';
import { askForResource, type ReleaseParts, releaseData } from '../release.ts';

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
        const { fhir } = request;
        const asked = fhir === undefined ? askForResource(request) : askFhir(request, fhir);
        return releaseData(parts, caller, asked);
      },
    },
    { read: ['gateway'] },
    { reads: 'read' },
  );
}
