import { SCOPES } from '@phds/catalog/scopes';
import { useState } from 'react';
import { Stack } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { ScopePreview } from './scope-preview.tsx';

const OPTIONS = SCOPES.map(({ scope, title, category }) => ({
  id: scope as string,
  text: `${title} · ${category}`,
}));

/** What each scope would show an app, so that its name is no abstraction. */
export function MyDataPage() {
  const [scope, setScope] = useState<string>(readScope());
  const change = (chosen: string) => {
    setScope(chosen);
    history.replaceState(null, '', `?scope=${encodeURIComponent(chosen)}`);
  };
  return (
    <>
      <PageHeading
        title="My data at a glance"
        lead="Choose a part and see what an app would see if you shared it. Looking here shares nothing."
      />
      <Stack>
        <Select label="What an app would ask for" options={OPTIONS} value={scope} onChange={change} />
        <ScopePreview key={scope} scope={scope} />
        <Notice>
          <span>Informational, not for diagnosis.</span>
        </Notice>
      </Stack>
    </>
  );
}

function readScope(): string {
  const asked = new URLSearchParams(location.search).get('scope');
  return OPTIONS.find(({ id }) => id === asked)?.id ?? 'read:health-data:heart';
}
