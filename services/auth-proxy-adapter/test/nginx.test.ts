import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeIngress, documented, type IngressPlaces } from './ingress-suite';

/** The configuration of docs/ingress.md, with the addresses of this test. */
const configuration = ({ directory, port, adapterUrl, serviceUrl }: IngressPlaces): string => {
  const placed = documented('nginx', 'nginx')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('auth-proxy-adapter:3006', new URL(adapterUrl).host)
    .replace(/(objects-api|hps-gateway|contexts-api|log-collector):\d+/g, new URL(serviceUrl).host);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    `daemon off; master_process off; pid ${directory}/nginx.pid; error_log ${directory}/error.log;`,
    'events { worker_connections 64; }',
    `http { access_log off; ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}`,
    `${placed}}`,
  ].join('\n');
};

describeIngress({
  name: 'nginx',
  isInstalled: spawnSync('nginx', ['-v']).status === 0,
  start: (places) => {
    const { directory } = places;
    writeFileSync(join(directory, 'nginx.conf'), configuration(places));
    return spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory], { stdio: 'ignore' });
  },
});
