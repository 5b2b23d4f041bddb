import { PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { sessionOf } from '@phds/service-kit/rpc-context';
import { implement } from '@phds/service-kit/rpc-service';
import type { SessionVerifier } from '@phds/service-kit/session';
import type { StepUp } from '@phds/service-kit/step-up';
import { preview } from '../app/preview.ts';
import type { PublicIds } from '../app/public-ids.ts';
import type { DataPorts } from '../app/resources.ts';

/** The person's own view of their data. The session is verified here again, whatever the caller did. */
export function createPreviewService(dependencies: {
  readonly data: DataPorts;
  readonly publicIds: PublicIds;
  readonly verifySession: SessionVerifier;
  readonly stepUp: StepUp;
}) {
  const { data, publicIds, verifySession, stepUp } = dependencies;
  return implement(
    PreviewService,
    {
      preview: async ({ scope }, context) => {
        const session = await verifySession(sessionOf(context));
        stepUp.check('preview', session);
        return { body: new TextEncoder().encode(await preview(data, publicIds, session.userId, scope)) };
      },
    },
    { preview: ['gateway'] },
  );
}
