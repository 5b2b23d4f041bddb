import { useState } from 'react';
import { Link } from 'wouter';
import { useApps } from '../../api/developer-apps.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/card.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Pages, Table } from '../../ui/table.tsx';
import { Day } from '../../ui/time.tsx';
import { AppStatusTag } from './app-status-tag.tsx';

export function ConsolePage() {
  const [page, setPage] = useState(1);
  const apps = useApps(page);
  return (
    <>
      <PageHeading
        title="Developer console"
        lead="Register an app, send a person to the approval screen, get tokens, read data."
        actions={
          <ButtonLink to="/console/new" kind="primary">
            Register an app
          </ButtonLink>
        }
      />
      <Stack>
        <Resource query={apps}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <Empty title="You have no app yet">
                <p>
                  Register one: it takes a name and an address to come back to. You get an id and a secret at
                  once.
                </p>
              </Empty>
            ) : (
              <div>
                <Table
                  caption="Your apps"
                  rows={data}
                  keyOf={({ clientId }) => clientId}
                  columns={[
                    {
                      title: 'Name',
                      cell: ({ clientId, name }) => <Link href={`/console/${clientId}`}>{name}</Link>,
                    },
                    { title: 'Client id', cell: ({ clientId }) => <code>{clientId}</code> },
                    { title: 'Status', cell: ({ status }) => <AppStatusTag status={status} /> },
                    { title: 'Since', cell: ({ createdAt }) => <Day at={createdAt} /> },
                  ]}
                />
                <Pages pagination={pagination} onChange={setPage} />
              </div>
            )
          }
        </Resource>
        <Row>
          <ButtonLink to="/console/test-run">Try the flow</ButtonLink>
          <a href="/openapi.json">OpenAPI</a>
          <a href="/oauth/scopes">Scopes</a>
          <a href="/catalog.json">Catalog</a>
          <a href="/.well-known/oauth-authorization-server">OAuth metadata</a>
        </Row>
      </Stack>
    </>
  );
}
