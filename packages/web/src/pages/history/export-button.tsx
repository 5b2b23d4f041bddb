import { type AccessFilter, toExportPath } from '../../api/accesses.ts';
import { ButtonAnchor } from '../../ui/button.tsx';

/** Saves all accesses that the filter lets through as CSV. The browser takes the file as it arrives. */
export function ExportButton({ filter }: { readonly filter: AccessFilter }) {
  return (
    <ButtonAnchor href={toExportPath(filter)} download="access-history.csv">
      Export as CSV
    </ButtonAnchor>
  );
}
