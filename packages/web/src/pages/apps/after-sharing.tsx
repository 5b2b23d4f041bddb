import { useDeletionRequest } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Button } from '../../ui/button.tsx';
import { Row } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { Notice } from '../../ui/notice.tsx';
import { Day } from '../../ui/time.tsx';
import { Rich, text } from './texts.ts';

/** What the end of sharing means, and the request that the app deletes what it has read. */
export function AfterSharing({ grant }: { readonly grant: Grant }) {
  const app = appTitle(grant.app);
  return (
    <Notice title={text('noAccess', { app })}>
      <div role="status">
        <Keeping grant={grant} app={app} />
      </div>
      {grant.accessCount === 0 || isAsked(grant) ? null : <DeletionRequest id={grant.id} app={app} />}
    </Notice>
  );
}

function Keeping({ grant, app }: { readonly grant: Grant; readonly app: string }) {
  if (!isAsked(grant)) return text(grant.accessCount === 0 ? 'readNothing' : 'mayKeep', { app });
  const day = <Day at={grant.deletionRequestedAt} />;
  return (
    <>
      <Rich id="deletionAsked" values={{ app, day }} /> {text('deletionNext', { app })}
    </>
  );
}

function isAsked(grant: Grant): grant is Grant & { readonly deletionRequestedAt: string } {
  return typeof grant.deletionRequestedAt === 'string';
}

function DeletionRequest({ id, app }: { readonly id: string; readonly app: string }) {
  const request = useDeletionRequest(id);
  return (
    <>
      <ChangeNotice
        failure={request.failure}
        undone={text('deletionNotAsked')}
        unknown={text('deletionUnknown')}
      />
      <Row>
        <Button
          isBusy={request.isPending}
          onPress={() => request.mutate(undefined, { onSuccess: focusHeading })}
        >
          {text('askDeletion', { app })}
        </Button>
      </Row>
    </>
  );
}
