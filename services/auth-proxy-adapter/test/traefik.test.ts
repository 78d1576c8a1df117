import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeIngress, documented } from './ingress-suite';

describeIngress({
  name: 'Traefik',
  isInstalled: spawnSync('traefik', ['version']).status === 0,
  start: ({ directory, port, adapterUrl, serviceUrl }) => {
    const file = join(directory, 'dynamic.yaml');
    const placed = documented('traefik', 'yaml')
      .replaceAll('http://auth-proxy-adapter:3006', adapterUrl)
      .replace(/http:\/\/objects-api:\d+/g, serviceUrl);
    writeFileSync(file, placed);
    const options = [
      ...[`--entrypoints.web.address=127.0.0.1:${port}`, `--providers.file.filename=${file}`],
      ...['--global.checknewversion=false', '--global.sendanonymoususage=false'],
    ];
    return spawn('traefik', options, { stdio: 'ignore', cwd: directory });
  },
});
