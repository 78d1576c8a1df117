// A bill of materials in the form of CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that are installed below a directory, with what the lockfile knows of them, by name. */
export const componentsOf = (directory, lockfile) => {
  const store = join(directory, 'node_modules/.pnpm');
  const found = new Map();
  for (const entry of existsSync(store) ? readdirSync(store) : []) {
    for (const path of packagesIn(join(store, entry, 'node_modules'))) {
      const { name, version, license } = JSON.parse(readFileSync(path, 'utf8'));
      const { resolution } = lockfile.packages?.[`${name}@${version}`] ?? {};
      if (resolution !== undefined)
        found.set(`${name}@${version}`, { name, version, license, integrity: resolution.integrity });
    }
  }
  return [...found.values()].sort((a, b) => `${a.name}@${a.version}`.localeCompare(`${b.name}@${b.version}`));
};

/** Manifests of the packages that lie in a folder themselves; links lead to others. */
const packagesIn = (folder) =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .flatMap(({ name }) =>
          name.startsWith('@') ? packagesIn(join(folder, name)) : [join(folder, name, 'package.json')],
        )
        .filter((path) => existsSync(path));

/** The bill of one service. It names no time: the same lockfile makes the same bill. */
export const toSbom = ({ service, version }, components) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: { type: 'application', 'bom-ref': service, name: service, version } },
  components: components.map(({ name, version: its, license, integrity }) => ({
    type: 'library',
    'bom-ref': purlOf(name, its),
    ...groupOf(name),
    version: its,
    purl: purlOf(name, its),
    ...(typeof license === 'string' ? { licenses: [licenseOf(license)] } : {}),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  })),
});

const groupOf = (name) => {
  const [group, short] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return group === undefined ? { name: short } : { group, name: short };
};

const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const licenseOf = (license) =>
  /^[A-Za-z0-9.+-]+$/.test(license) ? { license: { id: license } } : { expression: license };

/** `sha512-<base64>` as the registry of packages says it. */
const hashOf = (integrity) => {
  const [algorithm, digest = ''] = integrity.split(' ')[0].split('-');
  return { alg: algorithm === 'sha512' ? 'SHA-512' : 'SHA-1', content: Buffer.from(digest, 'base64').toString('hex') };
};
