import type { Scope } from '@phds/catalog/scopes';
import { Suspense } from 'react';
import { Button } from '../../ui/button.tsx';
import { DialogContent, DialogWindow } from '../../ui/dialog.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { Loading } from '../../ui/notice.tsx';
import { NotLoaded } from './not-loaded.tsx';
import style from './preview-sheet.module.css';
import { text } from './texts.ts';

const ScopePreview = lazyPart(
  async () => (await import('../data/scope-preview.tsx')).ScopePreview,
  NotLoaded,
);

/** What a sheet shows. */
export interface Previewed {
  readonly scope: Scope;
  readonly title: string;
  /** The first day that the app would see; null for everything. */
  readonly firstDay: string | null;
}

/** An open sheet with the person's own data of a scope. */
export function PreviewDialog({
  scope,
  title,
  firstDay,
  onClose,
}: Previewed & { readonly onClose: () => void }) {
  return (
    <DialogWindow
      overlay={style['overlay']}
      dialog={style['sheet']}
      isDismissable
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent
        title={text('previewTitle', { title })}
        close={
          <Button slot="close" autoFocus>
            {text('close')}
          </Button>
        }
      >
        <Suspense fallback={<Loading />}>
          <ScopePreview scope={scope} firstDay={firstDay} />
        </Suspense>
      </DialogContent>
    </DialogWindow>
  );
}
