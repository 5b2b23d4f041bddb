import { Suspense, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';
import { NotLoaded } from './not-loaded.tsx';
import type { Previewed } from './preview-dialog.tsx';
import style from './preview-sheet.module.css';
import { Rich } from './texts.ts';

const PreviewDialog = lazyPart(async () => (await import('./preview-dialog.tsx')).PreviewDialog, NotLoaded);

/** A button that shows the person's own data of a scope, as far back as the app would see it, in a sheet. */
export function PreviewSheet(preview: Previewed) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="quiet" onPress={() => setOpen(true)}>
        <span>
          <Rich
            id="preview"
            values={{ title: preview.title }}
            components={{ more: <span className={style['more']} /> }}
          />
        </span>
      </Button>
      {isOpen ? (
        <Suspense fallback={null}>
          <PreviewDialog {...preview} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
