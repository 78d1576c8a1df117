'use strict';

const { join } = require('node:path');
const tools = require('./tools.js');

/** Before all checks: the programs, the types, and the archive of the umbrella's parts, which Helm makes of the folders beside it. */
module.exports = () => {
  const helm = tools.buildProgram('helm') ?? tools.findHelm();
  const charts = join(__dirname, '..');
  const parts = ['objects-api', 'contexts-api', 'hps-gateway', 'solve-worker', 'log-collector', 'auth-proxy-adapter'];
  for (const chart of [...parts, 'mq', 'cache', 'database', 'decision-service'])
    tools.must(helm, ['dependency', 'build', join(charts, chart)]);
  if (tools.findGo() === undefined) {
    process.stdout.write('There is no Go here: the charts are checked without kubeconform and kube-score.\n');
    return;
  }
  tools.buildProgram('kubeconform');
  tools.buildProgram('kube-score');
  tools.buildProgram('promtool');
  tools.fetchDefinitions();
  tools.fetchSchemas();
  tools.fetchTypes();
};
