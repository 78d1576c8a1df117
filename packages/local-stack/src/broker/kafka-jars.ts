import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce } from '../downloads/fetch-once';
import { runMaven } from '../downloads/maven';
import { packageRoot } from '../package-root';
import type { ServerContext } from '../server-context';

const POM = join(packageRoot, 'kafka', 'pom.xml');
const DIGEST_LENGTH = 8;

/** The folder with the jars that the checked-in `kafka/pom.xml` names; another one for each content of that file. */
export const fetchKafkaJars = (context: ServerContext): Promise<string> =>
  fetchOnce({
    downloads: context.downloads,
    name: `kafka-${createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, DIGEST_LENGTH)}`,
    signal: context.signal,
    say: (message) => context.say('fetch', message),
    fill: (directory) => {
      context.say('fetch', 'fetching Apache Kafka with Maven (43 MB, once)');
      return runMaven(context, [`--file=${POM}`, 'dependency:copy-dependencies', `-DoutputDirectory=${directory}`]);
    },
  });
