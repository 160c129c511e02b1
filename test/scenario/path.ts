import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import type { UpgradeOptions } from '../../src/lib/upgrade/plan/upgrade-options.ts'
import { byManifest, type Stage } from './stage.ts'

/** v1.5.2 with VMs that KubeVirt moves; small, so that four releases cost little. */
export const onePointFive = { ...byManifest, version: 'v1.5.2', workers: 2, vms: 2 } as const

export const inFolder = {
  manifestBase: 'releases',
  stableFor: '5s',
} as const satisfies Partial<UpgradeOptions>

/** A folder `releases` with the manifests of these. */
export function store(stage: Stage, ...versions: readonly string[]): void {
  for (const version of versions)
    stage.files.set(
      `releases/${version}/kubevirt-operator.yaml`,
      asYaml(stage.simulated.operatorManifest(version)),
    )
}

export const all = ['v1.6.6', 'v1.7.4', 'v1.8.4'] as const

/** As a person types it; the stage would name a manifest of one release. */
export const along = async (stage: Stage, options: Partial<UpgradeOptions> = {}, terminal = {}) =>
  stage.upgrade('v1.8.4', { manifest: undefined as never, ...inFolder, ...options }, terminal)

/** Does not follow KubeVirt by itself, so that a path ends behind its first step. */
export const stuck = { name: 'stuck', notMigratable: 'HostDeviceNotLiveMigratable' }

export const isToldToRestart = (event: RunEvent): boolean =>
  event.kind === 'step-waiting' &&
  event.step.id === 'vms-follow-v1.6.6' &&
  (event.state.remedy ?? []).some((line) => line.startsWith('virtctl restart stuck'))
