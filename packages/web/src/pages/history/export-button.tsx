import { type AccessFilter, toExportPath } from '../../api/accesses.ts';
import { ButtonAnchor } from '../../ui/button.tsx';

/** Downloads all accesses that match the filter as CSV, streamed by the browser. */
export function ExportButton({ filter }: { readonly filter: AccessFilter }) {
  return (
    <ButtonAnchor href={toExportPath(filter)} download="access-history.csv">
      Export as CSV
    </ButtonAnchor>
  );
}
