// Asks a lab's virt-api from outside, as a process of its own:   node availability.mjs DIR OUT.ndjson
// Every 200 ms, one call at a time: its version, through the aggregated API. A line per call with when it was sent, when it ended, and whether
// it was answered within a second.
import fs from 'node:fs'
import path from 'node:path'
import { connect } from './api.mjs'

const [dir, file] = process.argv.slice(2)
const api = connect(path.join(dir, 'kubeconfig'))
const out = fs.openSync(file, 'a')
const late = () => new Promise((resolve) => setTimeout(() => resolve(false), 1000).unref())

for (;;) {
  const sent = Date.now()
  const asked = api.get('/apis/subresources.kubevirt.io/v1/version').then(
    () => true,
    () => false,
  )
  const ok = await Promise.race([asked, late()])
  fs.writeSync(out, `${JSON.stringify({ sent, ended: Date.now(), ok })}\n`)
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, sent + 200 - Date.now())))
}
