import { compileRule, evaluateRule } from '@decision/engine';
import { makeWorkload } from './engine/workload';
const [rows, columns, blanks, led, what] = JSON.parse(process.argv[2] ?? '') as [number, number, number, boolean, string];
const { table, inputs } = makeWorkload({ rows, columns, blanks, led });
const end = performance.now() + 2500;
if (what === 'compile') while (performance.now() < end) compileRule(table);
else { const rule = compileRule(table); while (performance.now() < end) for (const i of inputs) evaluateRule(rule, i, { now: 0 }); }
