import type { DemoScenario } from '../../lib/simulator/demo-scenarios.ts'
import type { UpgradeOptions } from '../upgrade/options.ts'

/** `kvup upgrade --to … --manifest -` with the defaults of the command line. */
export function demoOptions({
  to,
  method,
  timeout = '60m',
  accept = [],
}: DemoScenario): UpgradeOptions {
  return {
    to,
    method: method ?? 'auto',
    manifest: '-',
    timeout,
    settle: '30s',
    holdWorkloads: true,
    migrations: 'wait',
    migrationsTimeout: '30m',
    accept: [...accept],
    pauseBefore: [],
  }
}
