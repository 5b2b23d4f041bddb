/** Jest's globalTeardown: stops what start-servers.mjs started. */

// biome-ignore lint/style/noDefaultExport: Jest calls the default export
export default async function stopServers() {
  await globalThis.phdsTestServers?.[Symbol.asyncDispose]();
}
