import type { Scope } from '@phds/catalog/scopes';
import { Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { Loading, Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

const ScopePreview = lazyPart(
  async () => (await import('../data/scope-preview.tsx')).ScopePreview,
  NotLoaded,
);

/** Instead of a preview whose code could not be loaded. The choices on the page stay. */
function NotLoaded() {
  return <Notice tone="bad" title={text('previewFailed')} />;
}

/** A button that shows the person's own data of a scope, as far back as the app would see it, in a sheet. */
export function PreviewSheet({
  scope,
  title,
  firstDay,
}: {
  readonly scope: Scope;
  readonly title: string;
  /** The first day that the app would see; null for everything. */
  readonly firstDay: string | null;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button kind="quiet" aria-label={text('previewOf', { title })} onPress={() => setOpen(true)}>
        {text('preview')}
      </Button>
      {isOpen ? (
        <Dialog
          isSheet
          title={text('previewTitle', { title })}
          onClose={close}
          close={
            <Button autoFocus onPress={close}>
              {text('close')}
            </Button>
          }
        >
          <Suspense fallback={<Loading />}>
            <ScopePreview scope={scope} firstDay={firstDay} />
          </Suspense>
        </Dialog>
      ) : null}
    </>
  );
}
