import { useState } from 'react';
import { downloadReceipt, useGrant, useRevocation } from '../../api/grants.ts';
import type { Grant } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Facts, Row, Stack } from '../../ui/card.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { ErrorNotice, NotThere } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { formatDate, Instant } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { AccessTable } from '../history/access-table.tsx';
import { GrantStatusTag } from './grant-status-tag.tsx';
import { NarrowingForm } from './narrowing-form.tsx';

/** One connected app: what it may read, what it has read, and how to give it less or nothing. */
export function ConnectedAppPage({ id }: { readonly id: string }) {
  const grant = useGrant(id);
  return (
    <Resource
      query={grant}
      what="this connection"
      notFound={<NotThere title="There is no such connection" />}
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
        title={grant.app.name}
        lead={<GrantStatusTag status={grant.status} />}
        actions={
          isActive ? <StopSharing name={grant.app.name} onConfirm={() => revocation.mutate()} /> : undefined
        }
      />
      <Stack>
        {revocation.error === null ? null : (
          <ErrorNotice error={revocation.error} title="Sharing has not ended." />
        )}
        <About grant={grant} />
        {isActive ? <NarrowingForm key={grant.scopes.join(' ') + grant.expiresAt} grant={grant} /> : null}
        <section aria-label="What it has read">
          <Stack>
            <h2>What it has read</h2>
            <AccessTable filter={{ grantId: grant.id }} showApp={false} />
          </Stack>
        </section>
      </Stack>
    </>
  );
}

function StopSharing({ name, onConfirm }: { readonly name: string; readonly onConfirm: () => void }) {
  return (
    <Confirmation
      trigger="Stop sharing"
      title={`Stop sharing with ${name}?`}
      confirm="Stop sharing"
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
  const { app, grantedAt, expiresAt, revokedAt, revokedBy, lastAccessAt, accessCount, dataFrom } = grant;
  return (
    <Card label="About this connection">
      <Facts
        facts={[
          ['Since', <Instant key="since" at={grantedAt} />],
          ['Until', <Instant key="until" at={expiresAt} />],
          ['Ended', revokedAt === null ? null : <Ending key="ended" at={revokedAt} by={revokedBy} />],
          ['Sees data', dataFrom === null ? 'of all time' : `from ${formatDate(dataFrom)} on`],
          ['Last looked', lastAccessAt === null ? 'never' : <Instant key="last" at={lastAccessAt} />],
          ['Looked', `${accessCount.toLocaleString()} times`],
        ]}
      />
      <Row>
        <WebLink url={app.homepageUrl}>About the app</WebLink>
        <WebLink url={app.privacyPolicyUrl}>Its privacy policy</WebLink>
        <Receipt id={grant.id} />
      </Row>
    </Card>
  );
}

function Ending({ at, by }: { readonly at: string; readonly by: string | null }) {
  return (
    <>
      <Instant at={at} />
      {by === null ? null : ` by ${by}`}
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
