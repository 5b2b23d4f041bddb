import { useState } from 'react';
import { downloadReceipt, useGrant, useRevocation } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, Facts, Row, Stack } from '../../ui/card.tsx';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { focusHeading } from '../../ui/focus.ts';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty, EmptyPage, ErrorNotice } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { scopeTitle } from '../../ui/scopes.ts';
import { formatDate, Instant } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { AccessTable } from '../history/access-table.tsx';
import { AppChanges } from './app-changes.tsx';
import { GrantStatusTag } from './grant-status-tag.tsx';
import { NarrowingForm } from './narrowing-form.tsx';
import { timesText } from './times-text.ts';

/** One connected app: its permissions, its accesses, and how to narrow or end them. */
export function ConnectedAppPage({ id }: { readonly id: string }) {
  const grant = useGrant(id);
  return (
    <Resource
      query={grant}
      notFound={
        <EmptyPage title="There is no such connection">
          <p>It is not one of yours, or its address is not complete.</p>
          <ButtonLink to="/apps">Connected apps</ButtonLink>
        </EmptyPage>
      }
    >
      {(found) => <ConnectedApp grant={found} />}
    </Resource>
  );
}

function ConnectedApp({ grant }: { readonly grant: Grant }) {
  const revocation = useRevocation(grant.id);
  const isActive = grant.status === 'active';
  return (
    <>
      <PageHeading
        title={appTitle(grant.app)}
        lead={<GrantStatusTag status={grant.status} />}
        actions={
          isActive ? (
            <StopSharing
              name={appTitle(grant.app)}
              isBusy={revocation.isPending}
              onConfirm={() => revocation.mutate(undefined, { onSuccess: focusHeading })}
            />
          ) : undefined
        }
      />
      <Stack>
        <ChangeNotice
          failure={revocation.failure}
          undone="Sharing has not ended yet."
          unknown="We could not find out whether sharing has ended."
          advice="Check your connection, then press “Stop sharing” again. Stopping twice does no harm."
        />
        {grant.appChanges === undefined ? null : (
          <AppChanges changes={grant.appChanges} isActive={isActive} />
        )}
        <About grant={grant} />
        {isActive ? null : <Shared scopes={grant.scopes} />}
        {isActive ? <NarrowingForm grant={grant} /> : null}
        <section aria-label="What it has read">
          <Stack>
            <h2>What it has read</h2>
            <AccessTable filter={{ grantId: grant.id }} showApp={false} empty={<NotLooked />} />
          </Stack>
        </section>
      </Stack>
    </>
  );
}

function NotLooked() {
  return (
    <Empty title="It has not looked">
      <p>Each time it reads some of your data, a line appears here before it gets it.</p>
    </Empty>
  );
}

function StopSharing({
  name,
  isBusy,
  onConfirm,
}: {
  readonly name: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
}) {
  return (
    <Confirmation
      trigger="Stop sharing"
      title={`Stop sharing with ${name}?`}
      confirm="Stop sharing"
      isBusy={isBusy}
      onConfirm={onConfirm}
    >
      <p>
        {name} cannot read anything from the moment this is confirmed, and its tokens die with it. What it has
        read already stays with it; ask its makers to delete that. To share again, start in the app.
      </p>
    </Confirmation>
  );
}

function About({ grant }: { readonly grant: Grant }) {
  const then = grant.appChanges === undefined ? '' : ' when you agreed';
  const { app, grantedAt, expiresAt, revokedAt, revokedBy, lastAccessAt, accessCount, dataFrom } = grant;
  return (
    <Card label="About this connection">
      <Facts
        facts={[
          ['Since', <Instant key="since" at={grantedAt} />],
          ['Until', revokedAt === null ? <Instant key="until" at={expiresAt} /> : null],
          ['Ended', revokedAt === null ? null : <Ending key="ended" at={revokedAt} by={revokedBy} />],
          ['Data', dataFrom === null ? 'of all time' : `from ${formatDate(dataFrom)} on`],
          ['Last looked', lastAccessAt === null ? 'never' : <Instant key="last" at={lastAccessAt} />],
          ['Looked', accessCount === 0 ? null : timesText(accessCount)],
        ]}
      />
      <Row>
        <WebLink url={app.homepageUrl}>About the app{then}</WebLink>
        <WebLink url={app.privacyPolicyUrl}>Its privacy policy{then}</WebLink>
        <Receipt id={grant.id} />
      </Row>
    </Card>
  );
}

const REVOKERS: Readonly<Record<string, string>> = {
  user: 'by you',
  app: 'because the app was ended',
};

/** The scopes of an ended grant; for an active one, the form shows them. */
function Shared({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <Card label="What was shared">
      <h2>What was shared</h2>
      <p>{scopes.map(scopeTitle).join(', ')}</p>
    </Card>
  );
}

function Ending({ at, by }: { readonly at: string; readonly by: string | null }) {
  return (
    <>
      <Instant at={at} />
      {by === null ? null : `, ${REVOKERS[by] ?? by}`}
    </>
  );
}

function Receipt({ id }: { readonly id: string }) {
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    try {
      saveFile(`consent-receipt-${id}.json`, await downloadReceipt(id));
      setError(null);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <Button kind="quiet" onPress={save}>
        Save the signed receipt
      </Button>
      {error === null ? null : <ErrorNotice error={error} title="The receipt could not be fetched." />}
    </>
  );
}
