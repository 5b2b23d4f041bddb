import { isDate } from '@phds/catalog/instants';
import { type PreviewRequest, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { sessionOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import { preview } from '../preview.ts';
import type { PublicIds } from '../public-ids.ts';
import type { DataParts } from '../resources.ts';

function findDataFrom({ dataFrom }: PreviewRequest): string | null {
  if (dataFrom === '') return null;
  if (!isDate(dataFrom)) throw invalidRequest('dataFrom', 'must be a date (2026-03-01)');
  return dataFrom;
}

/** The person's own view of their data. The session is verified here again, whatever the caller did. */
export function createPreviewService(dependencies: {
  readonly data: DataParts;
  readonly publicIds: PublicIds;
  readonly verifySession: SessionVerifier;
}) {
  const { data, publicIds, verifySession } = dependencies;
  return implement(
    PreviewService,
    {
      preview: async (request, context) => {
        const { userId } = await verifySession(sessionOf(context));
        const grant = { userId, scope: request.scope, dataFrom: findDataFrom(request) };
        return { body: new TextEncoder().encode(await preview(data, publicIds, grant)) };
      },
    },
    { preview: ['gateway'] },
  );
}
