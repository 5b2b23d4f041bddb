/** The directory that relative paths start from. pnpm runs scripts in the root of the checkout and tells where it was called. */
export function callerDirectory(): string {
  const isScript = process.env['npm_lifecycle_event'] === 'phds';
  return (isScript ? process.env['INIT_CWD'] : undefined) ?? process.cwd();
}
