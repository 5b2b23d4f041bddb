/**
 * The import rules of the architecture. Every rule has a planted violation in
 * verification/house-rules/test/import-rules.test.ts, which fails when the rule stops biting.
 *
 * Paths are relative to the directory the tool runs in, so the same rules serve this repository and the planted tree.
 * Nothing but `node_modules` is left unfollowed and nothing is excluded: a pattern such as `(^|/)dist/` would hide
 * every npm package whose entry point lies in its `dist`, and with it every rule about npm packages.
 */

const { Visitor } = require('@swc/core/Visitor.js');

// The walker that swc lends to the tool throws on `using` and `await using`. They are variable declarations.
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function visitStatementOrUsing(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  statement.decls = this.visitVariableDeclarators(statement.decls);
  return statement;
};

/** A module or folder of `@phds/service-kit`, as a pattern. */
const serviceKit = (names) => `^packages/service-kit/src/(${names})(\\.ts$|/)`;

/** An npm package, found in `node_modules` or named but not installed. */
const npm = (names) => [`(^|/)node_modules/(${names})/`, `^(${names})(/|$)`];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'services-never-import-each-other',
      comment: 'Services talk over their protos. A shared piece belongs in a package.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-never-import-services',
      comment: 'Packages are below services. What both need moves down into the package.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'domain-is-pure',
      comment:
        'domain holds types and rules: no I/O, no clock, no npm, no proto. It sees domain, the catalog and errors.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/domain/' },
      to: { pathNot: ['^services/$1/src/domain/', '^packages/catalog/src/', serviceKit('errors')] },
    },
    {
      name: 'app-sees-only-ports',
      comment:
        'app holds use cases: domain and its own ports, plus clock, timer, ids, user ids, secrets, the chain of records, node:crypto and lru-cache, a data structure. No other npm, no proto, no adapter.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/app/' },
      to: {
        pathNot: [
          '^services/$1/src/(app|domain)/',
          '^packages/(catalog|record-chain)/src/',
          serviceKit('errors|clock|periodic|ids|user-id|secrets'),
          '^(node:)?crypto$',
          ...npm('lru-cache'),
        ],
      },
    },
    {
      name: 'store-stays-behind-ports',
      comment: 'Only service.ts, which composes the service, knows the store; rpc and http call use cases.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src/', pathNot: '^services/[^/]+/src/(store/|service\\.ts$)' },
      to: { path: '^services/$1/src/store/' },
    },
    {
      name: 'database-only-in-store',
      comment:
        'Prisma and pg live in store and service.ts, in the postgres and restore parts of service-kit, and in packages/database.',
      severity: 'error',
      from: {
        path: '^(services|packages)/[^/]+/(src|bin)/',
        pathNot: [
          '^services/[^/]+/src/(store/|service\\.ts$)',
          '^packages/service-kit/src/(postgres|restore)[^/]*(\\.ts$|/)',
          '^packages/(database|dev-stack)/',
        ],
      },
      to: { path: npm('pg|pg-[^/]+|@prisma/[^/]+|@types/pg') },
    },
    {
      name: 'express-only-at-the-edge',
      comment:
        'The gateway speaks HTTP to the world, and so does the development identity provider. Nobody else.',
      severity: 'error',
      from: { path: '^(services|packages)/', pathNot: '^(services/gateway|packages/dev-stack)/' },
      to: { path: npm('express|@types/express') },
    },
    {
      name: 'test-code-only-in-tests',
      comment: 'Code that ships imports nothing of verification/ and no test.',
      severity: 'error',
      from: { path: '^(services|packages)/[^/]+/(src|bin)/' },
      to: { path: ['^verification/', '^(services|packages)/[^/]+/test/'] },
    },
    {
      name: 'no-development-code-in-services',
      comment: 'The local stack with its identity provider and made-up people never reaches production.',
      severity: 'error',
      from: { path: '^(services/[^/]+|packages/(service-kit|catalog|contracts|database|record-chain))/src/' },
      to: { path: '^packages/(cli|dev-stack|importers|local-servers|synthetic)/' },
    },
    {
      name: 'no-development-code-in-commands',
      comment:
        'Operators run the commands in production: their image holds no local stack and no synthetic people.',
      severity: 'error',
      from: { path: '^packages/(cli|importers)/src/' },
      to: { path: '^packages/(dev-stack|local-servers|synthetic)/' },
    },
    {
      name: 'catalog-stands-alone',
      comment: 'The one table everything derives from depends on nothing.',
      severity: 'error',
      from: { path: '^packages/catalog/src/' },
      to: { pathNot: '^packages/catalog/src/' },
    },
    {
      name: 'database-stands-alone',
      comment: 'Migration jobs run this package without the rest of a service.',
      severity: 'error',
      from: { path: '^packages/database/(src|bin)/' },
      to: { path: '^(services|packages|verification)/', pathNot: '^packages/database/' },
    },
    {
      name: 'record-chain-is-pure',
      comment:
        'Whoever verifies records runs this code and nothing else: it computes, and reads and writes nothing.',
      severity: 'error',
      from: { path: '^packages/record-chain/src/' },
      to: { pathNot: ['^packages/record-chain/src/', '^(node:)?crypto$'] },
    },
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or lack a third.',
      severity: 'error',
      from: { pathNot: '(^|/)generated/|^packages/web/dist/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere: a typo, or a package that is not among the dependencies.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'dependencies-are-declared',
      comment: 'Code that ships names what it imports in the dependencies of its own package.json.',
      severity: 'error',
      from: {
        path: '^(services|packages)/[^/]+/src/',
      },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'],
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: '(^|/)node_modules/' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
