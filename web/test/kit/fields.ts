/**
 * Finds the fields of the server's responses that the dashboard reads, using the type checker: properties declared in
 * the types generated from docs/openapi.json, even if they are read through one of the dashboard's own types that a
 * response was assigned to. The server's contract tests check every field in the list, so that none is forgotten.
 */
import path from 'node:path';
import ts from 'typescript';

const web = path.resolve(import.meta.dirname, '../..');
const schemaFile = path.join(web, 'src/api/schema.d.ts');
/** How deep a response is followed into the dashboard's own types. */
const deepest = 5;

const { fileNames, options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(web, 'tsconfig.json'), ts.sys.readFile).config,
  ts.sys,
  web,
);

/** Creates a program of the files and their imports. */
export function programOf(files: readonly string[]): ts.Program {
  return ts.createProgram(files, options);
}

/** Returns the source files of the dashboard. */
export function pageFiles(): string[] {
  const tests = /\.test\.tsx?$|\/fake\/|\/fixture\.ts$/;
  return fileNames.filter((name) => name.startsWith(path.join(web, 'src/')) && !tests.test(name));
}

/** Returns every field that the files read, as Schema.field, sorted. */
export function fieldsRead(files: readonly string[] = pageFiles()): string[] {
  const program = programOf(files);
  const search = new Search(program.getTypeChecker());
  for (const file of program.getSourceFiles()) {
    if (files.includes(file.fileName) && file.fileName !== schemaFile) ts.forEachChild(file, search.look);
  }
  return [...search.found].sort();
}

/** Returns the schema that declares a property, if the OpenAPI document declares it. */
function schemaOf(declaration: ts.Node): string | undefined {
  if (declaration.getSourceFile().fileName !== schemaFile) return undefined;
  const names: string[] = [];
  for (let node = declaration.parent; !ts.isSourceFile(node); node = node.parent) {
    if ((ts.isPropertySignature(node) || ts.isInterfaceDeclaration(node)) && node.name)
      names.unshift(node.name.getText());
  }
  const [top, group, ...rest] = names;
  return top === 'components' && group === 'schemas' && rest.length > 0 ? rest.join('.') : undefined;
}

/** Reports whether an identifier is the name of a member, as in value.member. */
function isMemberName(node: ts.Identifier): boolean {
  return ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
}

/**
 * Reports whether an identifier names an element or an attribute. The checker would treat it as a value and resolve the
 * whole element.
 */
function isJsxName({ parent }: ts.Identifier): boolean {
  return ts.isJsxOpeningLikeElement(parent) || ts.isJsxClosingElement(parent) || ts.isJsxAttribute(parent);
}

/** Reports whether a node is an expression that can pass a response on, or a function that can receive one. */
function isGiven(node: ts.Node): node is ts.Expression {
  if (ts.isIdentifier(node)) return !isJsxName(node) && !isMemberName(node);
  return (
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isCallExpression(node) ||
    ts.isAwaitExpression(node) ||
    ts.isArrowFunction(node)
  );
}

/**
 * Reports whether a node is an attribute or a child of a native element such as div. Its types are the browser's, and
 * resolving them would take most of the checker's time.
 */
function isForElement(node: ts.Node): boolean {
  const holder = ts.isJsxExpression(node.parent) ? node.parent.parent : node.parent;
  const element = ts.isJsxAttribute(holder)
    ? holder.parent.parent
    : ts.isJsxElement(holder)
      ? holder.openingElement
      : undefined;
  return element !== undefined && ts.isIdentifier(element.tagName) && /^[a-z]/.test(element.tagName.text);
}

class Search {
  readonly found = new Set<string>();
  private readonly followed = new Map<ts.Type, Set<ts.Type>>();

  constructor(private readonly checker: ts.TypeChecker) {}

  readonly look = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) this.read(node.expression, [node.name.text]);
    else if (ts.isElementAccessExpression(node)) this.read(node.expression, this.texts(node.argumentExpression));
    else if (ts.isBindingElement(node)) this.bound(node);
    else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
      this.read(node.right, this.texts(node.left));
    else if (ts.isCallExpression(node)) this.called(node);
    if (isGiven(node) && !isForElement(node)) {
      const wanted = this.checker.getContextualType(node);
      if (wanted) this.follow(this.checker.getTypeAtLocation(node), wanted);
    }
    ts.forEachChild(node, this.look);
  };

  private read(object: ts.Node, names: readonly string[]): void {
    for (const type of this.parts(this.checker.getTypeAtLocation(object))) {
      for (const name of names) this.field(type, name);
    }
  }

  private bound(node: ts.BindingElement): void {
    if (!ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken) return;
    const name = node.propertyName ?? node.name;
    if (ts.isIdentifier(name) || ts.isStringLiteral(name)) this.read(node.parent, [name.text]);
  }

  /** Records a field if the document declares it, by name or as an additional property. */
  private field(type: ts.Type, name: string): void {
    const declared = type.getProperty(name)?.declarations;
    const open = this.checker.getIndexInfoOfType(type, ts.IndexKind.String)?.declaration;
    for (const declaration of declared ?? (open ? [open] : [])) {
      const schema = schemaOf(declaration);
      if (schema !== undefined) this.found.add(`${schema}.${name}`);
    }
  }

  /** Returns the possible values of an expression, if its type lists them. */
  private texts(node: ts.Node): string[] {
    return this.parts(this.checker.getTypeAtLocation(node)).flatMap((type) =>
      type.isStringLiteral() ? [type.value] : [],
    );
  }

  /**
   * Returns the possible types of a value, without null and undefined; for a type parameter those of its constraint.
   */
  private parts(type: ts.Type): ts.Type[] {
    const bound =
      type.flags & (ts.TypeFlags.TypeParameter | ts.TypeFlags.Index)
        ? this.checker.getBaseConstraintOfType(type)
        : type;
    const present = bound && this.checker.getNonNullableType(bound);
    if (present === undefined) return [];
    return present.isUnion() ? present.types : [present];
  }

  /** The declared parameters show what a generic function reads; the resolved ones have the response's own type. */
  private called(call: ts.CallExpression): void {
    const parameters = this.checker.getResolvedSignature(call)?.getDeclaration()?.parameters;
    call.arguments.forEach((argument, n) => {
      const parameter = parameters?.[n];
      if (parameter) this.follow(this.checker.getTypeAtLocation(argument), this.checker.getTypeAtLocation(parameter));
    });
  }

  /** Follows a response that is assigned to another type: every property named by that type counts as read. */
  private follow(from: ts.Type, to: ts.Type, depth = 0): void {
    if (from === to || depth > deepest || this.followed.get(from)?.has(to)) return;
    this.followed.set(from, (this.followed.get(from) ?? new Set()).add(to));
    for (const source of this.parts(from)) {
      for (const target of this.parts(to)) {
        if (source === target) continue;
        this.followItems(source, target, depth);
        this.followCall(source, target, depth);
        for (const wanted of target.getProperties()) this.followField(source, wanted, depth);
      }
    }
  }

  private followItems(source: ts.Type, target: ts.Type, depth: number): void {
    if (!this.checker.isArrayLikeType(source) || !this.checker.isArrayLikeType(target)) return;
    const [item, wanted] = [source.getNumberIndexType(), target.getNumberIndexType()];
    if (item && wanted) this.follow(item, wanted, depth + 1);
  }

  /** Follows a function passed as an argument: it receives what the replaced parameter would receive. */
  private followCall(source: ts.Type, target: ts.Type, depth: number): void {
    const [given, wanted] = [source.getCallSignatures()[0], target.getCallSignatures()[0]];
    if (!given || !wanted) return;
    given.parameters.forEach((parameter, n) => {
      const got = wanted.parameters[n];
      if (got) this.follow(this.checker.getTypeOfSymbol(got), this.checker.getTypeOfSymbol(parameter), depth + 1);
    });
  }

  private followField(source: ts.Type, wanted: ts.Symbol, depth: number): void {
    const own = wanted.declarations?.some((declaration) => {
      const file = declaration.getSourceFile().fileName;
      return file !== schemaFile && !file.includes('/node_modules/');
    });
    if (!own) return;
    this.field(source, wanted.name);
    const given = source.getProperty(wanted.name);
    if (given) this.follow(this.checker.getTypeOfSymbol(given), this.checker.getTypeOfSymbol(wanted), depth + 1);
  }
}
