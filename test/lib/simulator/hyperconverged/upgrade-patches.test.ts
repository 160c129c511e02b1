import { expect, test } from 'vitest'
import { patchedForUpgrade } from '../../../../src/simulator/hyperconverged/hyperconverged-crd.ts'

const top = (seconds: number) => ({
  liveMigrationConfig: { completionTimeoutPerGiB: seconds, progressTimeout: 150 },
})
const below = (seconds: number) => ({ virtualization: top(seconds), security: {} })

test.each([
  ['the default of old', top(150), { from: '1.18.1', to: '1.19.0' }, top(20)],
  ['in v1', below(150), { from: '1.18.1', to: '1.19.0' }, below(20)],
  ['on OpenShift', top(150), { from: '4.22.3', to: '4.23.0' }, top(20)],
  ['on OpenShift 5', top(150), { from: '4.22.3', to: '5.0.1' }, top(20)],
  ['what somebody set', top(300), { from: '1.18.1', to: '1.19.0' }, top(300)],
  ['a release that does not do it', top(150), { from: '1.17.3', to: '1.18.1' }, top(150)],
  ['from a release that has done it', top(150), { from: '1.19.0', to: '1.19.1' }, top(150)],
  ['4.20 is no 1.20', top(150), { from: '4.18.13', to: '4.20.1' }, top(150)],
])('ocp 1.2: an upgrade rewrites the spec: %s', (_, spec, { from, to }, expected) => {
  expect(patchedForUpgrade(spec, from, to)).toEqual(expected)
})
