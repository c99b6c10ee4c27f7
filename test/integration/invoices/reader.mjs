// Third-party reader of electronic invoices: extracts the XML from each PDF and
// validates it against the schema of its profile.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { extractXml, Profile, validateXsd } from '@stackforge-eu/factur-x';

for (const path of process.argv.slice(2)) {
  const found = await extractXml(await readFile(path));
  const alone = await readFile(path.replace(/pdf$/, 'xml'), 'utf8');
  if (found.xml !== alone) throw new Error(`${path}: the XML inside is not the XML beside it`);
  const { valid, errors } = await validateXsd(found.xml, Profile.EN16931);
  if (!valid) throw new Error(`${path}: ${JSON.stringify(errors)}`);
  console.log(`ok ${basename(path)} ${found.filename} ${found.profile}`);
}
