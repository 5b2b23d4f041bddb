/**
 * The import rules of the architecture. Only `node_modules` is not followed, and nothing is excluded: a pattern such as `(^|/)dist/`
 * would also hide every npm package whose entry point is in `dist`, and so disable the rules about npm packages.
 */

const { Visitor } = require('@swc/core/Visitor.js');

// swc's visitor throws on `using` and `await using`. This treats them as variable declarations.
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function visitStatementOrUsing(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  statement.decls = this.visitVariableDeclarators(statement.decls);
  return statement;
};

/** The nouns of a service, a file each: rules, statements and what they answer in one place, without layers. */
const NOUNS =
  '^services/(authorization|consent|health-data)/src/((grants|access|webhooks|fhir)/)?[^/]+\\.ts$';

/** An npm package, installed in `node_modules` or only named. */
const npm = (names) => [`(^|/)node_modules/(${names})/`, `^(${names})(/|$)`];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'services-never-import-each-other',
      comment: 'Services call each other over their protos only. Shared code belongs in a package.',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-never-import-services',
      comment: 'Packages are below services. Code that both need belongs in the package.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^services/' },
    },
    {
      name: 'store-stays-behind-ports',
      comment:
        'Only service.ts, which builds the service, and nouns import the store; rpc and http call nouns.',
      severity: 'error',
      from: {
        path: '^services/([^/]+)/src/',
        pathNot: ['^services/[^/]+/src/(store/|service\\.ts$)', NOUNS],
      },
      to: { path: '^services/$1/src/store/' },
    },
    {
      name: 'database-only-in-store',
      comment:
        'Prisma and pg are used in store, service.ts and nouns, in the folders postgres and restore of service-kit and its commands, and where telemetry adds spans to pg.',
      severity: 'error',
      from: {
        path: '^(services|packages)/[^/]+/(src|bin)/',
        pathNot: [
          '^services/[^/]+/src/(store/|service\\.ts$)',
          NOUNS,
          '^packages/service-kit/(bin|src/(postgres|restore))/',
          '^packages/local-stack/',
          '^packages/service-kit/src/telemetry/tracing\\.ts$',
        ],
      },
      to: { path: npm('pg|pg-[^/]+|@prisma/[^/]+|@types/pg') },
    },
    {
      name: 'tracing-sdk-only-when-on',
      comment:
        "OpenTelemetry's SDK is loaded, with telemetry/tracing.ts, when traces are on. Everything else uses the API, which does nothing without it.",
      severity: 'error',
      from: { pathNot: '^packages/service-kit/src/telemetry/tracing\\.ts$' },
      to: {
        path: [
          ...npm('@opentelemetry/(?!api(/|$))[^/]+'),
          '^packages/service-kit/src/telemetry/tracing\\.ts$',
        ],
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'express-only-at-the-edge',
      comment:
        'Only the gateway, the development identity provider and the example of a partner app serve public HTTP.',
      severity: 'error',
      from: {
        path: '^(services|packages)/',
        pathNot: '^(services/gateway|packages/(local-stack|example-app))/',
      },
      to: { path: npm('express|@types/express') },
    },
    {
      name: 'test-code-only-in-tests',
      comment: 'Production code imports nothing from verification/ and no test.',
      severity: 'error',
      from: { path: '^(services|packages)/[^/]+/(src|bin)/' },
      to: { path: ['^verification/', '^(services|packages)/[^/]+/test/'] },
    },
    {
      name: 'no-development-code-in-services',
      comment: 'The local stack and its identity provider never reach production.',
      severity: 'error',
      from: { path: '^(services/[^/]+|packages/(service-kit|catalog|contracts|record-chain))/src/' },
      to: { path: '^packages/(cli|local-stack)/' },
    },
    {
      name: 'synthetic-people-in-the-sandbox-only',
      comment:
        'Of the services, health-data alone makes up people, behind a port: those of a sandbox deployment.',
      severity: 'error',
      from: {
        path: '^(services/[^/]+|packages/(service-kit|catalog|contracts|record-chain))/src/',
        pathNot: '^services/health-data/src/clients/synthetic-lives\\.ts$',
      },
      to: { path: '^packages/synthetic/' },
    },
    {
      name: 'no-development-code-in-commands',
      comment:
        'Operators run the commands in production: their image contains no local stack and no synthetic people.',
      severity: 'error',
      from: { path: '^packages/cli/src/' },
      to: { path: '^packages/(local-stack|synthetic)/' },
    },
    {
      name: 'catalog-stands-alone',
      comment: 'The tables from which everything is derived depend on nothing.',
      severity: 'error',
      from: { path: '^packages/catalog/src/' },
      to: { pathNot: '^packages/catalog/src/' },
    },
    {
      name: 'record-chain-is-pure',
      comment: 'Verification of access records runs this code alone: it only computes, without I/O.',
      severity: 'error',
      from: { path: '^packages/record-chain/src/' },
      to: { pathNot: ['^packages/record-chain/src/', '^(node:)?crypto$'] },
    },
    {
      name: 'sdk-stands-alone',
      comment:
        'Partners install it from a registry, without this workspace, and run it in Node and in browsers.',
      severity: 'error',
      from: { path: '^packages/sdk/src/' },
      to: { pathNot: '^packages/sdk/src/' },
    },
    {
      name: 'no-cycles',
      comment: 'Merge two modules that need each other, or move the shared part to a third.',
      severity: 'error',
      from: { pathNot: '(^|/)generated/|^packages/(web|docs)/dist/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'The import cannot be resolved: a typing error, or a package that is not a dependency.',
      severity: 'error',
      // Scalar's bundle names modules of its build.
      from: { pathNot: '^packages/docs/dist/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'dependencies-are-declared',
      comment: 'Production code declares what it imports in the dependencies of its own package.json.',
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
