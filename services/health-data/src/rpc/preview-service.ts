import { PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { UserOf } from '@phds/service-kit/rpc-context';
import { implement } from '@phds/service-kit/rpc-service';
import { preview } from '../app/preview.ts';
import type { PublicIds } from '../app/public-ids.ts';
import type { DataPorts } from '../app/resources.ts';

/** The person's own view of their data. The session is verified here again, whatever the caller did. */
export function createPreviewService(dependencies: {
  readonly data: DataPorts;
  readonly publicIds: PublicIds;
  readonly userOf: UserOf;
}) {
  const { data, publicIds, userOf } = dependencies;
  return implement(
    PreviewService,
    {
      preview: async ({ scope }, context) => {
        const userId = await userOf(context);
        return { body: new TextEncoder().encode(await preview(data, publicIds, userId, scope)) };
      },
    },
    { preview: ['gateway'] },
  );
}
