import { PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { sessionOf } from '@phds/service-kit/rpc-context';
import { implement } from '@phds/service-kit/rpc-service';
import type { SessionVerifier } from '@phds/service-kit/session';
import { preview } from '../app/preview.ts';
import type { PublicIds } from '../app/public-ids.ts';
import type { DataPorts } from '../app/resources.ts';

/** The person's own view of their data. The session is verified here again, whatever the caller did. */
export function previewService(verifySession: SessionVerifier, data: DataPorts, publicIds: PublicIds) {
  return implement(
    PreviewService,
    {
      preview: async ({ scope }, context) => {
        const { userId } = await verifySession(sessionOf(context));
        return { body: new TextEncoder().encode(await preview(data, publicIds, userId, scope)) };
      },
    },
    { preview: ['gateway'] },
  );
}
