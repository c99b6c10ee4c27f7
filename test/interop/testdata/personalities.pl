# Registers a domain with Debian's Net::EPP at one of the registries that the sandbox imitates.
#
#   perl personalities.pl PORT CA-FILE ACCOUNT PASSWORD OTHER-ACCOUNT OTHER-PASSWORD TLD
#
# It prints a line for each step that succeeded, and dies at the first one that failed.
use strict;
use warnings;
use Net::EPP::Simple;
use Net::EPP::Frame;

my ($port, $ca, $account, $password, undef, undef, $tld) = @ARGV;

my $epp = Net::EPP::Simple->new(
	host => '127.0.0.1', port => $port, user => $account, pass => $password, timeout => 20,
	verify => 1, ca_file => $ca, load_config => 0, reconnect => 0,
) or die "login: $Net::EPP::Simple::Code $Net::EPP::Simple::Error\n";

# Sends a frame and expects a result code.
sub expect {
	my ($what, $code, $frame) = @_;
	my $answer = $epp->request($frame) or die "$what: no answer\n";
	die "$what: " . $answer->code . ' ' . $answer->msg . ", want $code\n" unless $answer->code == $code;
	print "$what: $code\n";
	return $answer;
}

# A contact; %with has form, org, cc, voice and ext, a namespace with its elements.
sub contact {
	my ($id, %with) = @_;
	my $frame = Net::EPP::Frame::Command::Create::Contact->new;
	$frame->setContact($id);
	$frame->addPostalInfo($with{form} // 'int', 'Erika Muster', $with{org}, {
		street => ['Weg 1'], city => 'Bonn', sp => '', pc => $with{pc} // '53111', cc => $with{cc} // 'DE',
	});
	$frame->setVoice($with{voice}) if $with{voice};
	$frame->setEmail('muster@example.org');
	$frame->setAuthInfo('geheim-1');
	if ($with{ext}) {
		my ($space, $prefix, @elements) = @{ $with{ext} };
		my $extension = $frame->createElement('extension');
		my $create = $frame->createElementNS($space, "$prefix:create");
		while (my ($name, $value) = splice(@elements, 0, 2)) {
			my $element = $frame->createElementNS($space, "$prefix:$name");
			$element->appendText($value);
			$create->appendChild($element);
		}
		$extension->appendChild($create);
		$frame->command->insertBefore($extension, $frame->clTRID);
	}
	return $frame;
}

# A domain; %with has registrant, contacts, ns and auth.
sub domain {
	my ($name, %with) = @_;
	my $frame = Net::EPP::Frame::Command::Create::Domain->new;
	$frame->setDomain("$name.$tld");
	$frame->setPeriod(1);
	$frame->setNS(@{ $with{ns} }) if $with{ns};
	$frame->setRegistrant($with{registrant}) if $with{registrant};
	$frame->setContacts($with{contacts}) if $with{contacts};
	$frame->setAuthInfo($with{auth} // '');
	return $frame;
}

my $voice = '+49.22812345';
my @attributes = ({ name => 'ns1.fremde.example' }, { name => 'ns2.fremde.example' });
my @eurid = ('http://www.eurid.eu/xml/epp/contact-ext-1.3', 'contact-ext');
my @nicat = ('http://www.nic.at/xsd/at-ext-contact-1.0', 'at-ext-contact');

if ($tld eq 'com') {
	expect('contact create', 1000, contact('muster-1', voice => $voice));
	expect('registrant', 2306, domain('muster-eins', registrant => 'muster-1', auth => 'geheim-2'));
	expect('domain create', 1000, domain('muster-eins', auth => 'geheim-2'));
} elsif ($tld eq 'eu') {
	my @person = (ext => [@eurid, type => 'registrant', lang => 'de', naturalPerson => 'true']);
	expect('no phone', 2003, contact('muster-1', form => 'loc', @person));
	expect('wrong country', 2306, contact('muster-1', form => 'loc', voice => $voice, cc => 'US', @person));
	expect('contact create', 1000, contact('muster-1', form => 'loc', voice => $voice, @person));
	expect('tech create', 1000, contact('muster-2', form => 'loc', voice => $voice, org => 'Muster GmbH',
		ext => [@eurid, type => 'tech', lang => 'en', naturalPerson => 'false']));
	expect('registrant as tech', 2306, domain('muster-eins', registrant => 'muster-1', contacts => { tech => 'muster-1' }));
	expect('domain create', 1000, domain('muster-eins', registrant => 'muster-1', contacts => { tech => 'muster-2' }, ns => \@attributes));
} elsif ($tld eq 'at') {
	my @person = (ext => [@nicat, type => 'privateperson']);
	expect('local form', 2306, contact('muster-1', form => 'loc', @person));
	expect('contact create', 1000, contact('muster-1', @person));
	expect('admin contact', 2306, domain('muster-eins', registrant => 'muster-1', contacts => { tech => 'muster-1', admin => 'muster-1' }, ns => \@attributes));
	expect('domain create', 1000, domain('muster-eins', registrant => 'muster-1', contacts => { tech => 'muster-1' }, ns => \@attributes));
} elsif ($tld eq 'org') {
	expect('contact create', 1000, contact('muster-1', voice => $voice));
	expect('three contacts', 2003, domain('muster-eins', registrant => 'muster-1', contacts => { tech => 'muster-1', admin => 'muster-1' }, auth => 'geheim-2'));
	expect('domain create', 1000, domain('muster-eins', registrant => 'muster-1',
		contacts => { tech => 'muster-1', admin => 'muster-1', billing => 'muster-1' }, auth => 'geheim-2'));
} elsif ($tld eq 'de') {
	expect('contact create', 1000, contact('muster-1'));
	expect('contact without a postal code', 1000, contact('muster-2', pc => ''));
	expect('no postal code', 2306, domain('muster-eins', registrant => 'muster-2', ns => \@attributes, auth => 'geheim-2'));
	expect('domain create', 1000, domain('muster-eins', registrant => 'muster-1', ns => \@attributes, auth => 'geheim-2'));
} else {
	die "there is no registry of .$tld\n";
}
my $info = $epp->domain_info("muster-eins.$tld") or die "info: $Net::EPP::Simple::Error\n";
die "info: $info->{clID}\n" unless $info->{clID} eq $account;
$epp->logout;
print "done\n";
