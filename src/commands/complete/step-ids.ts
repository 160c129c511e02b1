import { rolloutNow } from '../../lib/kubevirt/rollout-status.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { makePlan, type UpgradeState } from '../../lib/upgrade/upgrade-plan.ts'
import { pathProcedure } from '../../lib/upgrade/path-procedure.ts'
import { upgradeProcedure } from '../../lib/upgrade/upgrade-procedure.ts'
import { canBeHeld } from '../../lib/engine/step.ts'
import type { ReleaseManifest } from '../../lib/upgrade/methods/operator-manifest.ts'
import { foreseePath } from '../../lib/upgrade/plan/path-forecast.ts'
import { requestOf, type UpgradeOptions } from '../../lib/upgrade/plan/upgrade-options.ts'
import { type Asked, clusterOf, last, type Source } from './asked.ts'

/** The steps of the upgrade that stands before the cursor, as `--dry-run -o name` has them; for --pause-before those that can be held. Throws what makes it impossible. */
export const stepIds: Source = async (asked, offer) => {
  const { cx } = asked
  const request = requestOf(optionsOf(asked), true)
  const cluster = await clusterOf(asked)
  const { reader } = cluster
  const rollout = await rolloutNow(reader, cx.clock)
  const { installation } = rollout
  const upgradeState: UpgradeState = {
    ...rollout,
    methods: installation.workloadUpdateMethods,
    forecast: ofNoVm,
  }
  const { who } = cx.world
  const asPath = { cx, options: optionsOf(asked), request, upgradeState, releases: knownReleases }
  const { legs } = (await foreseePath(asPath)) ?? {}
  const operatorVersion = installation.operator?.version
  const procedure = legs
    ? pathProcedure(
        {
          ...legs[0].plan,
          to: request.to,
          path: { steps: [], hops: [], between: request.between ?? 'wait' },
        },
        {
          who,
          legs: legs.map(({ plan }) => ({ plan, manifest, operatorVersion })),
          enter: (leg) => Promise.resolve(leg),
          entered: () => undefined,
          hasBegun: false,
        },
      )
    : upgradeProcedure(makePlan(request, upgradeState, knownReleases), { who, operatorVersion, manifest })
  const { namespace } = installation
  const journal = configMapJournal(cluster, { namespace, who: cx.world.who, clock: cx.clock })
  const steps = await procedure.steps({ reader, clock: cx.clock, journal })
  for (const step of asked.option === '--pause-before' ? steps.filter(canBeHeld) : steps)
    offer({ value: step.id, description: step.title })
}

const manifest: ReleaseManifest = {
  load: () => Promise.reject(new Error('no manifest is read for a completion')),
}

/** What becomes of the VMs makes findings and no steps, and reading all of them takes longer than a completion may. */
const ofNoVm: UpgradeState['forecast'] = {
  counts: { migrates: 0, restarts: 0, 'shuts down': 0, 'is lost': 0, stays: 0 },
  interrupted: [],
  onLauncher: [],
  evacuating: [],
}

/** What decides about the steps as it was typed, the rest as it is by default. */
function optionsOf(asked: Asked): UpgradeOptions {
  const { options } = asked
  const has = (name: string) => options.has(name)
  return {
    ...given(asked, { to: '--to', manifest: '--manifest', manifestSha256: '--manifest-sha256' }),
    ...given(asked, { via: '--via', manifestBase: '--manifest-base' }),
    between: last(asked, '--between') === 'none' ? 'none' : 'wait',
    method: (last(asked, '--method') ?? 'auto') as UpgradeOptions['method'],
    migrations: (last(asked, '--migrations') ?? 'wait') as UpgradeOptions['migrations'],
    migrationsTimeout: '30m',
    timeout: '60m',
    stableFor: '30s',
    pauseUpdates: !has('--no-pause-updates'),
    leavePaused: has('--leave-paused'),
    waitWorkloads: has('--wait-workloads'),
    follow: has('--follow'),
    accept: [],
    pauseBefore: [],
  }
}

function given<K extends string>(asked: Asked, names: Record<K, string>): { [k in K]?: string } {
  const found: { [k in K]?: string } = {}
  for (const key of Object.keys(names) as K[]) {
    const value = last(asked, names[key])
    if (value !== undefined) found[key] = value
  }
  return found
}
