/**
 * The directory that relative paths refer to. pnpm runs scripts in the root of the checkout and passes the caller's directory in a
 * variable.
 */
export function callerDirectory(): string {
  const isScript = process.env['npm_lifecycle_event'] === 'phds';
  return (isScript ? process.env['INIT_CWD'] : undefined) ?? process.cwd();
}
